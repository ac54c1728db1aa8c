import { hostname } from 'node:os'
import { createOutbox, createStateStore, createTimerStore, type StateStore } from '@switchhook/store'
import type { Base } from '../feature.ts'
import { type OutboxRelay, startOutboxRelay } from './outbox-relay.ts'
import { createPublishEvent } from './publish-event.ts'
import { countTimers, createEventMeter, showGauges } from './state-meter.ts'
import { createTimerLoop, type TimerOwners } from './timer-loop.ts'
import { createTransact, type Transact, type Writing } from './transact.ts'

/** The stored state of calls, agents and recoveries, with the outbox and the timers that its commits feed. */
export interface State {
  readonly store: StateStore
  /** Commits a step of the contact center; its events count and belong to the trace of the current request. */
  readonly transact: Transact
  /** Must be called after a commit that did not use `transact`: wakes the relay and the timer loop. */
  readonly committed: (writing: Writing) => void
  readonly relay: Pick<OutboxRelay, 'stop'>
  readonly timers: {
    start(owners: TimerOwners): void
    expect(dueInMs: number): void
    stop(): Promise<void>
  }
}

/** Starts the outbox relay. The timers start later, when their owners are ready. */
export async function openState({ redis, broker, metrics, tracing, log, traceOfRequest }: Base): Promise<State> {
  const outbox = createOutbox(redis, `${hostname()}-${process.pid}`)
  // Housekeeping only: if it fails, the next start repeats it.
  await outbox.removeIdleRelays().catch((error: unknown) => log.warn('idle relays were not removed', { error }))
  const meter = createEventMeter(metrics)
  const publish = createPublishEvent({ publish: (event) => broker.publishEvent(event), tracing, log })
  const relay = startOutboxRelay({ outbox: meter.relaying(outbox), publish, log })

  const store = createStateStore(redis)
  const timerStore = createTimerStore(redis)
  const loop = createTimerLoop(timerStore, log)
  showGauges(metrics, { outbox, timers: timerStore, redis })

  const committed = ({ events = [], timers = [] }: Writing): void => {
    if (events.length > 0) relay.nudge()
    for (const { dueInMs } of timers) loop.expect(dueInMs)
  }
  return {
    store,
    transact: createTransact(
      store,
      (writing) => {
        meter.written(writing)
        committed(writing)
      },
      traceOfRequest,
    ),
    committed,
    relay,
    timers: { ...loop, start: (owners) => loop.start(countTimers(metrics, owners)) },
  }
}
