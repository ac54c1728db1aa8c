import { type Bench, COOLDOWN_MS, closing, DEADLINE_MS } from '../bench.ts'
import { observeLatency } from '../load/arrivals.ts'
import { subscribe } from '../load/client.ts'
import { type Behaviour, openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, purgeQueues, timedData } from '../load/events.ts'
import { deliverInTurn } from '../load/harm.ts'
import { medianSpread, round, type Spread } from '../measure/statistics.ts'

const [HARMFUL, NEIGHBOUR] = ['tenant-32', 'tenant-33']
/** To the endpoints that answer now and then. */
const PER_SECOND = 100
const NEIGHBOUR_PER_SECOND = 50
const WARM_UP_MS = 2_000
/** Turns of both sides: the machine's speed drifts by more than what is looked for, and one stall spoils a turn's percentile. */
const ROUNDS = 5
/** Until circuit breakers have closed and their endpoints have their retries. */
const RECOVERY_MS = COOLDOWN_MS + DEADLINE_MS
const ANSWERS: readonly Behaviour[] = ['hang', 'one in 10', 'one in 4', 'one in 2']

/** Another tenant beside endpoints that answer now and then, and beside as many that answer. */
export async function measureSweep(bench: Bench) {
  const { say, stack, options } = bench
  const channel = await openChannel(bench)

  async function measureRow(count: number, answers: Behaviour, rounds: number) {
    return await closing(bench, async (part) => {
      const endpoints = await openEndpoints(part, [1, count])
      const [own = [], urls = []] = endpoints.urls
      await subscribe(part, own, { tenant: NEIGHBOUR })
      part.defer(() => purgeQueues(stack, 'delivery.'))
      await deliverInTurn(part, { tenant: HARMFUL, urls, perSecond: PER_SECOND })
      const observe = (forMs: number): Promise<Spread> =>
        observeLatency(endpoints, NEIGHBOUR_PER_SECOND, forMs, (n) =>
          publishEvent(channel, 'call.status', timedData(n), NEIGHBOUR),
        )
      await observe(WARM_UP_MS)
      const [quiet, beside]: [Spread[], Spread[]] = [[], []]
      for (let turn = 1; turn <= rounds; turn++) {
        quiet.push(await observe(options.RUN_TIME))
        await endpoints.behave(1, answers)
        beside.push(await observe(options.RUN_TIME))
        await endpoints.behave(1, 'quick')
        if (turn < rounds) await observe(RECOVERY_MS)
      }
      const sides = { quiet: medianSpread(quiet), beside: medianSpread(beside) }
      return { endpoints: count, answers, ...sides, ratio: round(sides.beside.p99Ms / sides.quiet.p99Ms, 2) }
    })
  }

  const [fewest = 1] = options.SWEEP_ENDPOINTS
  // Until the engines have compiled what they run.
  await measureRow(fewest, 'one in 2', 1)
  const rows = []
  for (const count of options.SWEEP_ENDPOINTS) {
    for (const answers of ANSWERS) {
      const row = await measureRow(count, answers, ROUNDS)
      say(`  ${count}, ${answers}: ${row.quiet.p99Ms} ms, ${row.beside.p99Ms} ms (${row.ratio} ×)`)
      rows.push(row)
    }
  }
  return { perSecond: PER_SECOND, rows }
}
