import { jobOf, openBullmq } from '../baselines/bullmq.ts'
import { type Bench, closing, DEADLINE_MS } from '../bench.ts'
import { observeArrivals } from '../load/arrivals.ts'
import { subscribe } from '../load/client.ts'
import { type Arrival, type Endpoints, openEndpoints } from '../load/endpoints.ts'
import { discardDeliveries, openChannel, publishEvent, timedData } from '../load/events.ts'
import { monotonicMs } from '../measure/clock.ts'
import { medianSpread, round, type Spread, spreadOf } from '../measure/statistics.ts'
import { startChild } from '../processes/child.ts'

/** Each event becomes a delivery for every endpoint: 500 deliveries a second at both sizes. */
const FEW = { endpoints: 20, hanging: 4, eventsPerSecond: 25 }
/** The hanging endpoints together may have as many deliveries in flight as a worker takes. */
const MANY = { endpoints: 100, hanging: 20, eventsPerSecond: 5 }
type Size = typeof FEW
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

/** Publishes one event, or adds the equivalent jobs. */
type Send = (data: object) => void

/**
 * Effect of hanging endpoints on the others: alternating runs with all endpoints answering and with some hanging, compared
 * with BullMQ and axios, which has no isolation.
 */
export async function measureNoisy(bench: Bench) {
  const { say } = bench
  const channel = await openChannel(bench)
  const few = await closing(bench, async (part) => {
    const endpoints = await openGroups(part, FEW)
    await runOurs(FEW, endpoints, WARM_UP_MS)
    const ours = await repeatOurs(RUNS, FEW, endpoints)
    say('  BullMQ with axios')
    return { ...FEW, ...ours, bullmq: await measureBullmq(part, FEW, endpoints) }
  })
  const many = await closing(bench, async (part) => ({
    ...MANY,
    ...(await repeatOurs(RUNS_OF_MANY, MANY, await openGroups(part, MANY))),
  }))
  return { few, many }

  /** `ours` is the median of each number; the ratios are those of the medians. */
  async function repeatOurs(times: number, size: Size, endpoints: Endpoints) {
    const runs: Neighbours[] = []
    for (let n = 1; n <= times; n++) {
      runs.push(await runOurs(size, endpoints))
      say(`  ${size.hanging} of ${size.endpoints}, run ${n} of ${times}`)
    }
    const spread = (which: 'quiet' | 'before' | 'steady'): Spread => medianSpread(runs.map((run) => run[which]))
    return { ours: neighboursOf(spread('quiet'), spread('before'), spread('steady')), runs }
  }

  /** With subscriptions of its own, of which no breaker knows anything yet. */
  function runOurs(size: Size, endpoints: Endpoints, forMs?: number): Promise<Neighbours> {
    return closing(bench, async (part) => {
      part.defer(() => discardDeliveries(part.stack, channel))
      await subscribe(part, endpoints.urls.flat())
      return compare(size, endpoints, (data) => publishEvent(channel, 'call.status', data), forMs)
    })
  }
}

/** The endpoints that answer, and those that can hang. */
const openGroups = (part: Bench, { endpoints, hanging }: Size): Promise<Endpoints> =>
  openEndpoints(part, [endpoints - hanging, hanging])

async function compare(size: Size, endpoints: Endpoints, send: Send, forMs = NOISY_MS): Promise<Neighbours> {
  const quiet = await load(size, endpoints, send, Math.min(forMs, QUIET_MS))
  await endpoints.behave(1, 'hang')
  const beganAt = monotonicMs()
  const noisy = await load(size, endpoints, send, forMs)
  // They answer again, so that the remaining deliveries finish soon.
  await endpoints.behave(1, 'quick')
  const between = (fromMs: number, toMs: number): Spread =>
    spreadOf(noisy.flatMap(([sentAt, ms]) => (sentAt - beganAt >= fromMs && sentAt - beganAt < toMs ? [ms] : [])))
  return neighboursOf(
    spreadOf(quiet.map(([, ms]) => ms)),
    between(0, REACTS_MS),
    between(STEADY_FROM_MS, Number.POSITIVE_INFINITY),
  )
}

/** Resolves to the POSTs at the endpoints that answer. */
const load = (size: Size, endpoints: Endpoints, send: Send, forMs: number): Promise<readonly Arrival[]> =>
  observeArrivals(endpoints, size.eventsPerSecond, forMs, (n) => send(timedData(n)), size.endpoints - size.hanging)

async function measureBullmq(part: Bench, size: Size, endpoints: Endpoints): Promise<Neighbours> {
  const urls = endpoints.urls.flat()
  const queue = openBullmq(part, BULLMQ_QUEUE)
  const args = [part.stack.urls.redis, BULLMQ_QUEUE, CONCURRENCY, DEADLINE_MS]
  for (let n = 0; n < WORKERS; n++) await startChild(part, 'bullmq-worker.js', args)
  const send = (data: object): void => void queue.addBulk(urls.map((url) => jobOf(url, data)))
  await load(size, endpoints, send, WARM_UP_MS)
  return compare(size, endpoints, send)
}

type Neighbours = ReturnType<typeof neighboursOf>

/** Of the endpoints that answer, from the event to its first POST. */
const neighboursOf = (quiet: Spread, before: Spread, steady: Spread) => ({
  /** While all endpoints answer. */
  quiet,
  /** While some hang and nothing has been learnt of it yet. */
  before,
  /** While some hang, from a moment after the first attempts have timed out. */
  steady,
  beforeRatio: round(before.p99Ms / quiet.p99Ms, 2),
  steadyRatio: round(steady.p99Ms / quiet.p99Ms, 2),
})
