import { type Bench, closing } from '../bench.ts'
import { keepPace, observeLatency } from '../load/arrivals.ts'
import { subscribe } from '../load/client.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { discardDeliveries, type EventType, openChannel, publishEvent, timedData } from '../load/events.ts'
import { medianSpread, round, type Spread } from '../measure/statistics.ts'

/** The neighbours get 500 deliveries a second. */
const NEIGHBOURS = 20
const EVENTS_PER_SECOND = 25
/** Of the subscription between them; nine of ten are over its limits. */
const OTHERS_PER_SECOND = 200
const LIMITS = { maxInFlight: 4, maxPerSecond: 20 }
const RUNS = 5
const RUN_MS = 8_000
const WARM_UP_MS = 1_000

/** The neighbours of a subscription that gets ten times what its limits allow, and of the same without limits, in turns. */
export async function measureLimited(bench: Bench) {
  const { say } = bench
  const channel = await openChannel(bench)
  const endpoints = await openEndpoints(bench, [NEIGHBOURS, 1])
  const send = (eventType: EventType) => (n: number) => publishEvent(channel, eventType, timedData(n))

  await measure({}, WARM_UP_MS)
  const runs: { unlimited: Spread; limited: Spread }[] = []
  for (let n = 1; n <= RUNS; n++) {
    const [first, second] = n % 2 === 0 ? [LIMITS, {}] : [{}, LIMITS]
    const [one, other] = [await measure(first), await measure(second)]
    runs.push(first === LIMITS ? { unlimited: other, limited: one } : { unlimited: one, limited: other })
    say(`  run ${n} of ${RUNS}`)
  }
  const unlimited = medianSpread(runs.map((run) => run.unlimited))
  const limited = medianSpread(runs.map((run) => run.limited))
  return {
    neighbours: NEIGHBOURS,
    limits: LIMITS,
    /** From the event to the first POST at the neighbours: medians of the runs, and the ratio of their p99. */
    unlimited,
    limited,
    runs,
    ratio: round(limited.p99Ms / unlimited.p99Ms, 2),
  }

  function measure(settings: object, forMs = RUN_MS): Promise<Spread> {
    return closing(bench, async (part) => {
      part.defer(() => discardDeliveries(part.stack, channel))
      const [neighbours = [], own = []] = endpoints.urls
      await subscribe(part, neighbours)
      await subscribe(part, own, { eventType: 'agent.status', ...settings })
      const others = keepPace(OTHERS_PER_SECOND, forMs, send('agent.status'))
      const spread = await observeLatency(endpoints, EVENTS_PER_SECOND, forMs, send('call.status'), NEIGHBOURS)
      await others
      return spread
    })
  }
}
