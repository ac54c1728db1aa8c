import { setTimeout as sleep } from 'node:timers/promises'
import type { ConfirmChannel } from 'amqplib'
import { type Bench, DEADLINE_MS } from '../bench.ts'
import { observeLatency } from '../load/arrivals.ts'
import { subscribe } from '../load/client.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, publishMany, purgeQueues, timedData } from '../load/events.ts'
import type { Spread } from '../measure/statistics.ts'

const BURSTING = 'tenant-1'
const HANGING = 'tenant-50'
/** Each event of the hanging tenant becomes a delivery for each of its endpoints, none of which answers. */
const HANGING_ENDPOINTS = 20
const HANGING_DELIVERIES = 1_000
/** Each event of the bursting tenant becomes a delivery for each of these endpoints. The last one can hang. */
const BURST_ENDPOINTS = 20
/** Tenants with one endpoint each, and their events per second together. */
const OTHERS = 10
const OTHERS_PER_SECOND = 100
const ALONE_MS = 10_000
const HANGING_MS = 2 * DEADLINE_MS
const LOOK_EVERY_MS = 500

/** Groups of endpoints; the first are those of the other tenants, and the second the others of the burst. */
const [LAST_OF_BURST, OF_HANGING] = [2, 3] as const

/**
 * Latency of other tenants while the deliveries of one tenant hang, and during a burst of another one: first all its
 * endpoints answer, then one hangs.
 * The rest of a burst that is not delivered after `BURST_TIME` is discarded.
 */
export async function measureFairness(bench: Bench) {
  const { stack, say, options } = bench
  const endpoints = await openEndpoints(bench, [OTHERS, BURST_ENDPOINTS - 1, 1, HANGING_ENDPOINTS])
  const [ofOthers = [], many = [], last = [], ofHanging = []] = endpoints.urls
  const others = Array.from({ length: OTHERS }, (_, n) => `tenant-${n + 2}`)
  // On one connection, the events of the others would wait for those of the burst.
  const [channel, burstChannel] = [await openChannel(bench), await openChannel(bench)]
  await subscribe(bench, [...many, ...last], { tenant: BURSTING })
  await subscribe(bench, ofHanging, { tenant: HANGING })
  for (const [at, tenant] of others.entries()) await subscribe(bench, ofOthers.slice(at, at + 1), { tenant })

  await observeOthers(2_000)
  const alone = await observeOthers(ALONE_MS)
  const hanging = { deliveries: HANGING_DELIVERIES, others: await measureHanging() }
  const bursts = [await measureBurst(0), await measureBurst(1)]
  return { events: options.BURST, perEvent: BURST_ENDPOINTS, alone, hanging, bursts }

  function observeOthers(until: number | (() => boolean)): Promise<Spread> {
    return observeLatency(endpoints, OTHERS_PER_SECOND, until, (n) =>
      publishEvent(channel, 'call.status', timedData(n), others[n % OTHERS]),
    )
  }

  async function measureHanging(): Promise<Spread> {
    await endpoints.behave(OF_HANGING, 'hang')
    await publishMany(burstChannel, HANGING_DELIVERIES / HANGING_ENDPOINTS, HANGING)
    say(`  while ${HANGING_DELIVERIES} deliveries hang`)
    const seen = await observeOthers(HANGING_MS)
    await purgeQueues(stack, 'delivery.')
    return seen
  }

  async function measureBurst(hanging: number) {
    say(`  during a burst with ${hanging} hanging endpoints`)
    await endpoints.behave(LAST_OF_BURST, hanging === 0 ? 'quick' : 'hang')
    const startedAt = performance.now()
    let publishedMs = 0
    let isOver = false
    const bursting = publishMany(burstChannel, options.BURST, BURSTING)
      .then(() => {
        publishedMs = Math.round(performance.now() - startedAt)
        return untilDrained(channel, startedAt + options.BURST_TIME)
      })
      .finally(() => (isOver = true))
    const [seen, isDrained] = await Promise.all([observeOthers(() => isOver), bursting])
    const observedMs = Math.round(performance.now() - startedAt)
    for (const prefix of ['fanout.', 'delivery.']) await purgeQueues(stack, prefix)
    return {
      /** Endpoints of the bursting tenant that never answer. */
      hanging,
      /** How long publishing all its events took, and how long the other tenants were observed. */
      publishedMs,
      observedMs,
      /** Whether all deliveries of the burst were attempted in that time. */
      isDrained,
      others: seen,
    }
  }
}

/** Queues in which the events and deliveries of a burst wait. */
const BURST_QUEUES = [
  'fanout.events',
  'delivery.due',
  'delivery.packets',
  'delivery.backlog',
  'delivery.packets.backlog',
  ...Array.from({ length: 16 }, (_, n) => `fanout.backlog.${n}`),
]

/**
 * Resolves to whether the queues are empty before the deadline. Asks through the channel: the management API is seconds
 * behind during a burst.
 */
async function untilDrained(channel: ConfirmChannel, deadlineMs: number): Promise<boolean> {
  while (performance.now() < deadlineMs) {
    await sleep(LOOK_EVERY_MS)
    const queues = await Promise.all(BURST_QUEUES.map((name) => channel.checkQueue(name)))
    if (queues.every(({ messageCount }) => messageCount === 0)) return true
  }
  return false
}
