import { setTimeout as sleep } from 'node:timers/promises'
import { type ConfirmChannel, connect } from 'amqplib'
import type { Bench } from '../bench.ts'
import { latenciesOf, observeArrivals } from '../load/arrivals.ts'
import { type Arrival, openEndpoints } from '../load/endpoints.ts'
import { callData, publishEvent, timedData } from '../load/events.ts'
import { subscribe } from '../load/subscriptions.ts'
import { monotonicMs } from '../measure/clock.ts'
import { type Management, openManagement } from '../measure/management.ts'
import { createMeter } from '../measure/processor-cost.ts'
import { round, type Spread, spreadOf } from '../measure/statistics.ts'
import { type BacklogCost, costOf, type Phase } from './backlog-cost.ts'
import { pidsOf } from './stack-pids.ts'

const HEALTHY = 8
/** Each event becomes a delivery for every healthy endpoint. */
const EVENTS_PER_SECOND = 25
const ALONE_MS = 10_000
/** Events published before the next wait for confirms. */
const CHUNK = 500
/** A delivery in a wait queue beyond the first has been postponed twice and waits for a minute or more. */
const SHORT_WAIT = 'delivery.wait.10000'
/** Queues that deliveries of all endpoints share, and their usual depth. */
const SHARED = ['fanout.events', 'delivery.due', 'delivery.packets'] as const
const FEW_READY = 50
const GIVE_UP_MS = 300_000

export interface BacklogFigure {
  readonly backlog: number
  /** From the first event until the whole backlog waits for a minute or longer. */
  readonly settledMs: number
  readonly cost: BacklogCost
  /** How long the burst took to pass the queues that all deliveries share. */
  readonly burstMs: number
  /** Latency at the healthy endpoints: alone, behind the burst, and while the backlog is postponed. */
  readonly alone: Spread
  readonly behind: Spread
  readonly beside: Spread
  readonly ratio: number
}

/**
 * Cost of a dead endpoint with a backlog: each delivery moves to a lane, meets the cool-down and waits. Measured until all of
 * them wait for a minute or longer.
 */
export async function measureBacklog({ stack, token, say, options }: Bench): Promise<BacklogFigure> {
  const backlog = options.BACKLOG
  const endpoints = await openEndpoints([HEALTHY, 1])
  const [healthy = [], dead = []] = endpoints.urls
  await endpoints.behave(1, 'hang')
  const management = openManagement(stack)
  const model = await connect(stack.urls.amqp)
  const channel = await model.createConfirmChannel()
  const unsubscribers = [await subscribe(stack, token, healthy), await subscribe(stack, token, dead, 'agent.status')]
  try {
    await takePhase(2_000)
    const alone = await takePhase(ALONE_MS)
    const before = spreadOf(latenciesOf(alone.arrivals))
    say(`  healthy endpoints alone: p99 ${before.p99Ms} ms`)
    const beganAt = monotonicMs()
    let isOver = false
    const putting = putOff(channel, management, backlog).finally(() => (isOver = true))
    const [during, { burstMs, settledMs }] = await Promise.all([takePhase(() => isOver), putting])
    const isBehind = ([, sentAt]: Arrival): boolean => sentAt < beganAt + burstMs
    const behind = spreadOf(latenciesOf(during.arrivals.filter(isBehind)))
    const beside = spreadOf(latenciesOf(during.arrivals.filter((arrival) => !isBehind(arrival))))
    say(`  behind a burst of ${backlog}: p99 ${behind.p99Ms} ms; while they are put off: p99 ${beside.p99Ms} ms`)
    return {
      backlog,
      settledMs: Math.round(settledMs),
      burstMs: Math.round(burstMs),
      cost: costOf(alone, during, backlog),
      alone: before,
      behind,
      beside,
      ratio: round(beside.p99Ms / before.p99Ms, 2),
    }
  } finally {
    await endpoints.behave(1, 'quick')
    for (const unsubscribe of unsubscribers) await unsubscribe()
    await management.purge('delivery.')
    await model.close()
    await endpoints.stop()
  }

  async function takePhase(until: number | (() => boolean)): Promise<Phase & { arrivals: readonly Arrival[] }> {
    const moved = await management.moved()
    const meter = createMeter(pidsOf(stack, 'workers', 'fanout', 'rabbitmq', 'redis'))
    const startedAt = performance.now()
    const arrivals = await meter.during(() =>
      observeArrivals(endpoints, 0, {
        perSecond: EVENTS_PER_SECOND,
        until,
        send: (n) => publishEvent(channel, 'call.status', timedData(n)),
        perSend: HEALTHY,
      }),
    )
    const ms = performance.now() - startedAt
    const movedAfter = await management.moved()
    return {
      ms,
      events: arrivals.length / HEALTHY,
      arrivals,
      cpuUs: meter.costUs(1),
      published: movedAfter.published - moved.published,
      delivered: movedAfter.delivered - moved.delivered,
    }
  }
}

/** Publishes the backlog; resolves when all of it waits for a minute or longer. */
async function putOff(
  channel: ConfirmChannel,
  management: Management,
  backlog: number,
): Promise<{ burstMs: number; settledMs: number }> {
  const startedAt = performance.now()
  for (let n = 0; n < backlog; n++) {
    publishEvent(channel, 'agent.status', callData(n))
    if ((n + 1) % CHUNK === 0) await channel.waitForConfirms()
  }
  let burstMs: number | undefined
  for (;;) {
    await sleep(500)
    const depths = await management.depths()
    const messages = (isMeant: (name: string) => boolean): number =>
      [...depths].reduce((sum, [name, depth]) => sum + (isMeant(name) ? depth : 0), 0)
    const resting = messages((name) => name.startsWith('delivery.wait.') && name !== SHORT_WAIT)
    const elapsedMs = performance.now() - startedAt
    if (burstMs === undefined && (await readyInShared(channel)) <= FEW_READY) burstMs = elapsedMs
    // A few are being attempted: each probe after a cool-down is one of them.
    if (resting >= backlog * 0.99) return { burstMs: burstMs ?? elapsedMs, settledMs: elapsedMs }
    if (elapsedMs > GIVE_UP_MS) throw new Error(`${resting} of ${backlog} deliveries wait for a minute or more`)
  }
}

/** Asks through the channel: the management API is seconds behind during a burst. */
async function readyInShared(channel: ConfirmChannel): Promise<number> {
  const queues = await Promise.all(SHARED.map((name) => channel.checkQueue(name)))
  return queues.reduce((sum, { messageCount }) => sum + messageCount, 0)
}
