import { type PlatformEvent, traceIdOf } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import { eventSpan, type Logger, type Metrics, spanned, type Tracing } from '@switchhook/runtime'
import { createOutbox, createStateStore, createTimerStore, type Redis } from '@switchhook/store'
import { startRelay } from './relay.ts'
import { countTimers, createEventMeter, showGauges } from './state-meter.ts'
import { announceTimers, createTimerLoop, type TimerOwners } from './timer-loop.ts'
import { createTransact } from './transact.ts'

/** The stored state of calls, agents and recoveries, with the outbox and the timers that its commits feed. */
export type State = Awaited<ReturnType<typeof openState>>

/** Starts the outbox relay. The timers start later, when their owners are ready. */
export async function openState(deps: {
  readonly redis: Redis
  readonly broker: Pick<Broker, 'publishEvent'>
  readonly metrics: Metrics
  readonly tracing: Tracing
  readonly log: Logger
  readonly traceOfRequest: () => string | undefined
}) {
  const { redis, broker, metrics, tracing, log, traceOfRequest } = deps
  const outbox = createOutbox(redis)
  const meter = createEventMeter(metrics)
  /** Publishes a stored event in the trace of the request that caused it. An event without a request starts a new trace. */
  const publish = (event: PlatformEvent): Promise<void> =>
    spanned(tracing, eventSpan(event, 'send', 'switchhook.events'), async ({ traceparent }) => {
      await broker.publishEvent({ ...event, traceparent })
      const { eventId, eventType, tenant } = event
      log.debug('event relayed', { traceId: traceIdOf(traceparent), eventId, eventType, tenant })
    })
  const metered = { ...outbox, sent: meter.relaying(outbox) }
  const relay = startRelay({ outbox: metered, publish, log })

  const timerStore = createTimerStore(redis)
  const loop = createTimerLoop(timerStore, log)
  const store = announceTimers(createStateStore(redis, relay), (timers) => {
    for (const { dueInMs } of timers) loop.expect(dueInMs)
  })
  showGauges(metrics, outbox, timerStore, redis)
  return {
    store,
    /** Commits a step of the contact center; its events count and belong to the trace of the current request. */
    transact: createTransact(store, meter.written, traceOfRequest),
    stopRelay: relay.stop,
    timers: { ...loop, start: (owners: TimerOwners) => loop.start(countTimers(metrics, owners)) },
  }
}
