import { connect } from 'amqplib'
import { openBareLoop } from '../baselines/bare-loop.ts'
import type { Bench } from '../bench.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { callData, publishEvent } from '../load/events.ts'
import { keepPace } from '../load/pace.ts'
import { subscribe } from '../load/subscriptions.ts'
import { monotonicMs } from '../measure/clock.ts'
import { median, type Spread, spreadOf } from '../measure/statistics.ts'

const PER_SECOND = 500
const MEASURE_MS = 8_000
const WARM_UP_MS = 3_000
const RUNS = 3
const CONCURRENCY = 200

interface Side {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly runs: readonly Spread[]
}

export interface LatencyFigure {
  readonly perSecond: number
  readonly ours: Side
  readonly bare: Side
}

/**
 * Time from publishing an event to the arrival of its first POST, at a steady rate of events that each match one subscription.
 * Runs alternate with the bare loop at the same rate.
 */
export async function measureLatency({ stack, token, say }: Bench): Promise<LatencyFigure> {
  const endpoints = await openEndpoints([1])
  const [[url = ''] = []] = endpoints.urls
  const model = await connect(stack.urls.amqp)
  const channel = await model.createConfirmChannel()
  const unsubscribe = await subscribe(stack, token, [url])
  const bareLoop = await openBareLoop(stack, channel, new URL(url).origin, CONCURRENCY)
  const run = async (forMs: number, send: (data: object) => void): Promise<Spread> => {
    const sent = await keepPace(PER_SECOND, forMs, (n) => send({ ...callData(n), sentAt: monotonicMs() }))
    const arrivals = await endpoints.takeOf(0, sent)
    if (arrivals.length < sent) throw new Error(`${arrivals.length} of ${sent} POSTs came`)
    return spreadOf(arrivals.map(([, , latencyMs]) => latencyMs))
  }
  const publish = (data: object): void => publishEvent(channel, 'call.status', data)
  try {
    const ours: Spread[] = []
    const bare: Spread[] = []
    await run(WARM_UP_MS, bareLoop.send)
    await run(WARM_UP_MS, publish)
    for (let n = 1; n <= RUNS; n++) {
      bare.push(await run(MEASURE_MS, bareLoop.send))
      ours.push(await run(MEASURE_MS, publish))
      const [own, other] = [ours.at(-1), bare.at(-1)]
      say(`  run ${n} of ${RUNS}: p50 ${own?.p50Ms} ms, p99 ${own?.p99Ms} ms; bare ${other?.p50Ms}, ${other?.p99Ms} ms`)
    }
    return { perSecond: PER_SECOND, ours: sideOf(ours), bare: sideOf(bare) }
  } finally {
    await bareLoop.close()
    await unsubscribe()
    await model.close()
    await endpoints.stop()
  }
}

const sideOf = (runs: readonly Spread[]): Side => ({
  p50Ms: median(runs.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(runs.map(({ p99Ms }) => p99Ms)),
  runs,
})
