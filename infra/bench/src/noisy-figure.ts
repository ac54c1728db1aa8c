import { type ConfirmChannel, connect } from 'amqplib'
import { jobOf, openBullmq } from './bullmq.ts'
import { startChild } from './child.ts'
import { monotonicMs } from './clock.ts'
import { type Arrival, type Endpoints, openEndpoints } from './endpoints.ts'
import { callData, publishEvent } from './events.ts'
import type { Bench } from './figures.ts'
import { openManagement } from './management.ts'
import { keepPace } from './pace.ts'
import { DEADLINE_MS } from './short-deadline.ts'
import { median, round, type Spread, spreadOf } from './statistics.ts'
import { subscribe } from './subscriptions.ts'

const ENDPOINTS = 20
const HANGING = 4
const HEALTHY = ENDPOINTS - HANGING
/** Each becomes a delivery for every endpoint. */
const EVENTS_PER_SECOND = 25
const RUNS = 3
const QUIET_MS = 8_000
/** The attempts that open the breaker time out together, one deadline after the first event. */
const REACTS_MS = DEADLINE_MS + 500
const STEADY_FROM_MS = DEADLINE_MS + 2_000
const NOISY_MS = STEADY_FROM_MS + 8_000
/** Two workers of Switchhook, two of BullMQ, with so many in hand each. */
const WORKERS = 2
const CONCURRENCY = 200
const BULLMQ_QUEUE = 'bench-noisy'

/** Of the endpoints that answer, from the event to its first POST. */
interface Neighbours {
  /** While all endpoints answer. */
  readonly quiet: Spread
  /** While some hang and nothing has been learnt of it yet. */
  readonly before: Spread
  /** While some hang, from a moment after the first attempts have timed out. */
  readonly steady: Spread
  readonly beforeRatio: number
  readonly steadyRatio: number
}

export interface NoisyFigure {
  readonly endpoints: number
  readonly hanging: number
  readonly eventsPerSecond: number
  readonly deadlineMs: number
  readonly ours: Neighbours & { readonly runs: readonly Neighbours[] }
  readonly bullmq: Neighbours
}

/** Hands one event, or the jobs that are the same, to whoever delivers. */
type Send = (data: object) => void

/**
 * What endpoints that hang until the deadline do to the others: the same load with them answering and with them hanging,
 * in turn. Beside it the same POSTs as jobs of BullMQ with axios, which has no isolation.
 */
export async function measureNoisy({ stack, token, say }: Bench): Promise<NoisyFigure> {
  const endpoints = await openEndpoints([HEALTHY, HANGING])
  const urls = endpoints.urls.flat()
  const management = openManagement(stack.urls.rabbitmqManagement ?? '')
  const model = await connect(stack.urls.amqp)
  const channel = await model.createConfirmChannel()
  try {
    const runs: Neighbours[] = []
    await runOurs(1_000)
    for (let n = 1; n <= RUNS; n++) {
      runs.push(await runOurs())
      say(`  run ${n} of ${RUNS}: ${describe(runs.at(-1))}`)
    }
    const bullmq = await measureBullmq(stack.urls.redis, urls, endpoints)
    say(`  BullMQ with axios: ${describe(bullmq)}`)
    return {
      endpoints: ENDPOINTS,
      hanging: HANGING,
      eventsPerSecond: EVENTS_PER_SECOND,
      deadlineMs: DEADLINE_MS,
      ours: { ...medianOf(runs), runs },
      bullmq,
    }
  } finally {
    await model.close()
    await endpoints.stop()
  }

  /** With subscriptions of its own, of which no breaker knows anything yet. */
  async function runOurs(forMs?: number): Promise<Neighbours> {
    const unsubscribe = await subscribe(stack, token, urls)
    const neighbours = await compare(endpoints, (data) => publishEvent(channel, 'call.status', data), forMs)
    await unsubscribe()
    // What waits for its next attempt would come in the middle of the next run.
    await settle(channel)
    await management.purge('delivery.')
    return neighbours
  }
}

async function compare(endpoints: Endpoints, send: Send, forMs = NOISY_MS): Promise<Neighbours> {
  const quiet = await load(endpoints, send, Math.min(forMs, QUIET_MS))
  await endpoints.behave(1, 'hang')
  const beganAt = monotonicMs()
  const noisy = await load(endpoints, send, forMs)
  // From here on they answer, so that what still comes is done with at once.
  await endpoints.behave(1, 'quick')
  const between = (fromMs: number, toMs: number): Spread =>
    spreadOf(noisy.flatMap(([, sentAt, ms]) => (sentAt - beganAt >= fromMs && sentAt - beganAt < toMs ? [ms] : [])))
  return neighboursOf(
    spreadOf(quiet.map(([, , ms]) => ms)),
    between(0, REACTS_MS),
    between(STEADY_FROM_MS, Number.POSITIVE_INFINITY),
  )
}

/** Resolves to what has come to the endpoints that answer. */
async function load(endpoints: Endpoints, send: Send, forMs: number): Promise<readonly Arrival[]> {
  const events = await keepPace(EVENTS_PER_SECOND, forMs, (n) => send({ ...callData(n), sentAt: monotonicMs() }))
  const arrivals = await endpoints.takeOf(0, events * HEALTHY, 2 * DEADLINE_MS)
  if (arrivals.length < events * HEALTHY) throw new Error(`${arrivals.length} of ${events * HEALTHY} POSTs came`)
  return arrivals
}

async function settle(channel: ConfirmChannel): Promise<void> {
  await channel.waitForConfirms()
  await new Promise((resolve) => setTimeout(resolve, 1_000))
}

async function measureBullmq(redisUrl: string, urls: readonly string[], endpoints: Endpoints): Promise<Neighbours> {
  const queue = openBullmq(redisUrl, BULLMQ_QUEUE)
  const args = [redisUrl, BULLMQ_QUEUE, String(CONCURRENCY), String(DEADLINE_MS)]
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startChild('bullmq-worker.js', args)))
  try {
    return await compare(endpoints, (data) => void queue.addBulk(urls.map((url) => jobOf(url, data))))
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()))
    await queue.obliterate({ force: true })
    await queue.close()
  }
}

const neighboursOf = (quiet: Spread, before: Spread, steady: Spread): Neighbours => ({
  quiet,
  before,
  steady,
  beforeRatio: round(before.p99Ms / quiet.p99Ms, 2),
  steadyRatio: round(steady.p99Ms / quiet.p99Ms, 2),
})

/** Of each number by itself; the ratios are those of the medians. */
function medianOf(runs: readonly Neighbours[]): Neighbours {
  const spread = (which: 'quiet' | 'before' | 'steady'): Spread => ({
    count: runs.reduce((sum, run) => sum + run[which].count, 0),
    p50Ms: median(runs.map((run) => run[which].p50Ms)),
    p99Ms: median(runs.map((run) => run[which].p99Ms)),
  })
  return neighboursOf(spread('quiet'), spread('before'), spread('steady'))
}

const describe = (neighbours: Neighbours | undefined): string =>
  neighbours === undefined
    ? ''
    : `p99 ${neighbours.quiet.p99Ms} ms; with some that hang ${neighbours.before.p99Ms}, then ${neighbours.steady.p99Ms} ms`
