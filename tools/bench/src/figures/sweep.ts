import { type Bench, closing } from '../bench.ts'
import { observeLatency } from '../load/arrivals.ts'
import { subscribe } from '../load/client.ts'
import { type Behaviour, openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, purgeQueues, timedData } from '../load/events.ts'
import { deliverInTurn } from '../load/harm.ts'
import { round, type Spread } from '../measure/statistics.ts'
import { sideOf } from './latency.ts'

const [HARMFUL, NEIGHBOUR] = ['tenant-32', 'tenant-33']
/** To the endpoints that answer now and then. */
const PER_SECOND = 100
/** So that a 99th percentile is more than the second largest of 200: 500 in ten seconds. */
const NEIGHBOUR_PER_SECOND = 50
const WARM_UP_MS = 2_000
const RUNS = 3
const ANSWERS: readonly Behaviour[] = ['hang', 'one in 10', 'one in 4', 'one in 2']

/** Another tenant beside endpoints that answer now and then, so that no circuit breaker opens, and beside as many that answer. */
export async function measureSweep(bench: Bench) {
  const { say, stack, options } = bench
  const channel = await openChannel(bench)
  const rows = []
  for (const count of options.SWEEP_ENDPOINTS) {
    for (const answers of ANSWERS) {
      const row = await closing(bench, async (part) => {
        const endpoints = await openEndpoints(part, [1, count])
        const [own = [], urls = []] = endpoints.urls
        await subscribe(part, own, { tenant: NEIGHBOUR })
        part.defer(() => purgeQueues(stack, 'delivery.'))
        await deliverInTurn(part, { tenant: HARMFUL, urls, perSecond: PER_SECOND })
        const observe = (forMs: number): Promise<Spread> =>
          observeLatency(endpoints, NEIGHBOUR_PER_SECOND, forMs, (n) =>
            publishEvent(channel, 'call.status', timedData(n), NEIGHBOUR),
          )
        const observeRuns = async () => {
          const runs: Spread[] = []
          for (let run = 1; run <= RUNS; run++) runs.push(await observe(options.RUN_TIME))
          return sideOf(runs)
        }
        await observe(WARM_UP_MS)
        const quiet = await observeRuns()
        await endpoints.behave(1, answers)
        const beside = await observeRuns()
        return { endpoints: count, answers, quiet, beside, ratio: round(beside.p99Ms / quiet.p99Ms, 2) }
      })
      say(`  ${count}, ${answers}: ${row.beside.p99Ms} ms (${row.ratio} ×)`)
      rows.push(row)
    }
  }
  return { perSecond: PER_SECOND, rows }
}
