import { setTimeout as sleep } from 'node:timers/promises'
import { discard, jobOf, openBullmq } from '../baselines/bullmq.ts'
import { type Bench, DEADLINE_MS } from '../bench.ts'
import { observeArrivals } from '../load/arrivals.ts'
import { type Arrival, type Endpoints, openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, timedData } from '../load/events.ts'
import { purgeQueues, subscribe } from '../load/subscriptions.ts'
import { monotonicMs } from '../measure/clock.ts'
import { medianSpread, round, type Spread, spreadOf } from '../measure/statistics.ts'
import { startChild } from '../processes/child.ts'

/** Each event becomes a delivery for every endpoint: 500 deliveries a second at both sizes. */
export interface Size {
  readonly endpoints: number
  readonly hanging: number
  readonly eventsPerSecond: number
}
const FEW: Size = { endpoints: 20, hanging: 4, eventsPerSecond: 25 }
/** The hanging endpoints together may have as many deliveries in flight as a worker takes. */
const MANY: Size = { endpoints: 100, hanging: 20, eventsPerSecond: 5 }
const RUNS = 7
const RUNS_OF_MANY = 3
const WARM_UP_MS = 1_000
const QUIET_MS = 6_000
/** The attempts that open the breaker time out together, one deadline after the first event. */
const REACTS_MS = DEADLINE_MS + 500
const STEADY_FROM_MS = DEADLINE_MS + 2_000
const NOISY_MS = STEADY_FROM_MS + 6_000
/** Two workers of Switchhook and two of BullMQ, each with `CONCURRENCY` deliveries in flight. */
const WORKERS = 2
const CONCURRENCY = 200
const BULLMQ_QUEUE = 'bench-noisy'

/** Of the endpoints that answer, from the event to its first POST. */
export interface Neighbours {
  /** While all endpoints answer. */
  readonly quiet: Spread
  /** While some hang and nothing has been learnt of it yet. */
  readonly before: Spread
  /** While some hang, from a moment after the first attempts have timed out. */
  readonly steady: Spread
  readonly beforeRatio: number
  readonly steadyRatio: number
}

/** Publishes one event, or adds the equivalent jobs. */
type Send = (data: object) => void

/**
 * Effect of hanging endpoints on the others: alternating runs with all endpoints answering and with some hanging, compared
 * with BullMQ and axios, which has no isolation.
 */
export async function measureNoisy(bench: Bench) {
  const { stack, token, say } = bench
  const channel = await openChannel(bench)
  const few = await withEndpoints(FEW, async (endpoints) => {
    await runOurs(FEW, endpoints, WARM_UP_MS)
    const runs = await repeat(RUNS, () => runOurs(FEW, endpoints))
    const bullmq = await measureBullmq(stack.urls.redis, FEW, endpoints)
    say(`  BullMQ with axios: ${describe(bullmq)}`)
    return { ...FEW, ours: medianOf(runs), runs, bullmq }
  })
  const many = await withEndpoints(MANY, async (endpoints) => {
    const runs = await repeat(RUNS_OF_MANY, () => runOurs(MANY, endpoints))
    return { ...MANY, ours: medianOf(runs), runs }
  })
  return { few, many }

  async function repeat(times: number, run: () => Promise<Neighbours>): Promise<readonly Neighbours[]> {
    const runs: Neighbours[] = []
    for (let n = 1; n <= times; n++) {
      runs.push(await run())
      say(`  run ${n} of ${times}: ${describe(runs.at(-1))}`)
    }
    return runs
  }

  /** With subscriptions of its own, of which no breaker knows anything yet. */
  async function runOurs(size: Size, endpoints: Endpoints, forMs?: number): Promise<Neighbours> {
    const unsubscribe = await subscribe(stack, token, endpoints.urls.flat())
    const neighbours = await compare(size, endpoints, (data) => publishEvent(channel, 'call.status', data), forMs)
    await unsubscribe()
    // Deliveries that wait for a retry would disturb the next run.
    await channel.waitForConfirms()
    await sleep(1_000)
    await purgeQueues(stack, 'delivery.')
    return neighbours
  }
}

async function withEndpoints<T>(
  { endpoints: all, hanging }: Size,
  use: (endpoints: Endpoints) => Promise<T>,
): Promise<T> {
  const endpoints = await openEndpoints([all - hanging, hanging])
  try {
    return await use(endpoints)
  } finally {
    await endpoints.stop()
  }
}

async function compare(size: Size, endpoints: Endpoints, send: Send, forMs = NOISY_MS): Promise<Neighbours> {
  const quiet = await load(size, endpoints, send, Math.min(forMs, QUIET_MS))
  await endpoints.behave(1, 'hang')
  const beganAt = monotonicMs()
  const noisy = await load(size, endpoints, send, forMs)
  // They answer again, so that the remaining deliveries finish soon.
  await endpoints.behave(1, 'quick')
  const between = (fromMs: number, toMs: number): Spread =>
    spreadOf(noisy.flatMap(([, sentAt, ms]) => (sentAt - beganAt >= fromMs && sentAt - beganAt < toMs ? [ms] : [])))
  return neighboursOf(
    spreadOf(quiet.map(([, , ms]) => ms)),
    between(0, REACTS_MS),
    between(STEADY_FROM_MS, Number.POSITIVE_INFINITY),
  )
}

/** Resolves to the POSTs at the endpoints that answer. */
const load = (size: Size, endpoints: Endpoints, send: Send, forMs: number): Promise<readonly Arrival[]> =>
  observeArrivals(endpoints, 0, {
    perSecond: size.eventsPerSecond,
    until: forMs,
    send: (n) => send(timedData(n)),
    perSend: size.endpoints - size.hanging,
    patienceMs: 2 * DEADLINE_MS,
  })

async function measureBullmq(redisUrl: string, size: Size, endpoints: Endpoints): Promise<Neighbours> {
  const urls = endpoints.urls.flat()
  const queue = openBullmq(redisUrl, BULLMQ_QUEUE)
  const args = [redisUrl, BULLMQ_QUEUE, String(CONCURRENCY), String(DEADLINE_MS)]
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startChild('bullmq-worker.js', args)))
  try {
    const send = (data: object): void => void queue.addBulk(urls.map((url) => jobOf(url, data)))
    await load(size, endpoints, send, WARM_UP_MS)
    return await compare(size, endpoints, send)
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()))
    await discard(queue)
  }
}

const neighboursOf = (quiet: Spread, before: Spread, steady: Spread): Neighbours => ({
  quiet,
  before,
  steady,
  beforeRatio: round(before.p99Ms / quiet.p99Ms, 2),
  steadyRatio: round(steady.p99Ms / quiet.p99Ms, 2),
})

/** Median of each number; the ratios are those of the medians. */
function medianOf(runs: readonly Neighbours[]): Neighbours {
  const spread = (which: 'quiet' | 'before' | 'steady'): Spread => medianSpread(runs.map((run) => run[which]))
  return neighboursOf(spread('quiet'), spread('before'), spread('steady'))
}

const describe = (neighbours: Neighbours | undefined): string =>
  neighbours === undefined
    ? ''
    : `p99 ${neighbours.quiet.p99Ms} ms; with some that hang ${neighbours.before.p99Ms}, then ${neighbours.steady.p99Ms} ms`
