import { setTimeout as sleep } from 'node:timers/promises'
import { type ConfirmChannel, connect } from 'amqplib'
import type { Bench } from '../bench.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { callData, publishEvent } from '../load/events.ts'
import { keepPace } from '../load/pace.ts'
import { subscribe } from '../load/subscriptions.ts'
import { monotonicMs } from '../measure/clock.ts'
import { openManagement } from '../measure/management.ts'
import { type Spread, spreadOf } from '../measure/statistics.ts'

const BURSTING = 'tenant-1'
/** Each event of the bursting tenant becomes a delivery for each of these endpoints. The last one can hang. */
const BURST_ENDPOINTS = 20
/** Tenants with one endpoint each, and their events per second together. */
const OTHERS = 10
const OTHERS_PER_SECOND = 50
const ALONE_MS = 10_000
/** Events published before the next wait for confirms. */
const CHUNK = 500
const LOOK_EVERY_MS = 500

/** Groups of endpoints. */
const [OF_OTHERS, , LAST_OF_BURST] = [0, 1, 2] as const

interface Burst {
  /** Endpoints of the bursting tenant that never answer. */
  readonly hanging: number
  /** How long publishing all its events took. */
  readonly publishedMs: number
  /** How long the other tenants were observed. */
  readonly observedMs: number
  /** Whether all deliveries of the burst were attempted in that time. */
  readonly isDrained: boolean
  /** Latency of the other tenants in that time. */
  readonly others: Spread
}

export interface FairnessFigure {
  /** Events of the tenant's burst. */
  readonly events: number
  readonly perEvent: number
  readonly alone: Spread
  readonly bursts: readonly Burst[]
}

/**
 * Latency of other tenants during a burst of one tenant: first all its endpoints answer, then one hangs.
 * The rest of a burst that is not delivered after `BURST_TIME` is discarded.
 */
export async function measureFairness({ stack, tokenOf, say, options }: Bench): Promise<FairnessFigure> {
  const endpoints = await openEndpoints([OTHERS, BURST_ENDPOINTS - 1, 1])
  const [ofOthers = [], ...ofBurst] = endpoints.urls
  const others = Array.from({ length: OTHERS }, (_, n) => `tenant-${n + 2}`)
  const management = openManagement(stack.urls.rabbitmqManagement ?? '')
  // On one connection, the events of the others would wait for those of the burst.
  const models = [await connect(stack.urls.amqp), await connect(stack.urls.amqp)] as const
  const [channel, burstChannel] = [await models[0].createConfirmChannel(), await models[1].createConfirmChannel()]
  const unsubscribers = [await subscribe(stack, await tokenOf(BURSTING), ofBurst.flat())]
  for (const [at, tenant] of others.entries()) {
    unsubscribers.push(await subscribe(stack, await tokenOf(tenant), ofOthers.slice(at, at + 1)))
  }
  try {
    await observeOthers(2_000)
    const alone = await observeOthers(ALONE_MS)
    say(`  other tenants alone: p50 ${alone.p50Ms} ms, p99 ${alone.p99Ms} ms`)
    const bursts = [await measureBurst(0), await measureBurst(1)]
    return { events: options.BURST, perEvent: BURST_ENDPOINTS, alone, bursts }
  } finally {
    for (const unsubscribe of unsubscribers) await unsubscribe()
    for (const model of models) await model.close()
    await endpoints.stop()
  }

  async function observeOthers(until: number | (() => boolean)): Promise<Spread> {
    const sent = await keepPace(OTHERS_PER_SECOND, until, (n) => {
      const data = { ...callData(n), sentAt: monotonicMs() }
      publishEvent(channel, 'call.status', data, others[n % OTHERS])
    })
    const arrivals = await endpoints.takeOf(OF_OTHERS, sent, 30_000)
    if (arrivals.length < sent) throw new Error(`${arrivals.length} of ${sent} POSTs of the other tenants came`)
    return spreadOf(arrivals.map(([, , latencyMs]) => latencyMs))
  }

  async function measureBurst(hanging: number): Promise<Burst> {
    await endpoints.behave(LAST_OF_BURST, hanging === 0 ? 'quick' : 'hang')
    const startedAt = performance.now()
    let publishedMs = 0
    let isOver = false
    const bursting = publishAll(burstChannel, options.BURST)
      .then(() => {
        publishedMs = Math.round(performance.now() - startedAt)
        return untilDrained(channel, startedAt + options.BURST_TIME)
      })
      .finally(() => (isOver = true))
    const [seen, isDrained] = await Promise.all([observeOthers(() => isOver), bursting])
    const observedMs = Math.round(performance.now() - startedAt)
    for (const prefix of ['fanout.', 'delivery.']) await management.purge(prefix)
    say(`  during a burst with ${hanging} hanging endpoints: p50 ${seen.p50Ms} ms, p99 ${seen.p99Ms} ms`)
    return { hanging, publishedMs, observedMs, isDrained, others: seen }
  }
}

async function publishAll(channel: ConfirmChannel, events: number): Promise<void> {
  for (let n = 0; n < events; n++) {
    publishEvent(channel, 'call.status', callData(n), BURSTING)
    if ((n + 1) % CHUNK === 0) await channel.waitForConfirms()
  }
  await channel.waitForConfirms()
}

/** Queues in which the events and deliveries of a burst wait. */
const BURST_QUEUES = [
  'fanout.events',
  'delivery.due',
  'delivery.packets',
  'delivery.backlog',
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
