import { setTimeout as sleep } from 'node:timers/promises'
import type { ConfirmChannel } from 'amqplib'
import type { Bench } from '../bench.ts'
import { observeLatency } from '../load/arrivals.ts'
import { type Endpoints, openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, timedData } from '../load/events.ts'
import { keepPace } from '../load/pace.ts'
import { purgeQueues, subscribe } from '../load/subscriptions.ts'
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
const QUIET_MS = 1_000

/** The neighbours of a subscription that gets ten times what its limits allow, and of the same without limits, in turns. */
export async function measureLimited(bench: Bench) {
  const { stack, token, say, defer } = bench
  const channel = await openChannel(bench)
  const endpoints = await openEndpoints([NEIGHBOURS, 1])
  defer(() => endpoints.stop())

  await measure({}, WARM_UP_MS)
  const runs: { unlimited: Spread; limited: Spread }[] = []
  for (let n = 1; n <= RUNS; n++) {
    const [first, second] = n % 2 === 0 ? [LIMITS, {}] : [{}, LIMITS]
    const [one, other] = [await measure(first), await measure(second)]
    const run = first === LIMITS ? { unlimited: other, limited: one } : { unlimited: one, limited: other }
    runs.push(run)
    say(`  run ${n} of ${RUNS}: p99 ${run.unlimited.p99Ms} ms; with limits ${run.limited.p99Ms} ms`)
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

  async function measure(settings: object, forMs = RUN_MS): Promise<Spread> {
    const [neighbours = [], own = []] = endpoints.urls
    const ends = [
      await subscribe(stack, token, neighbours),
      await subscribe(stack, token, own, 'agent.status', settings),
    ]
    const spread = await load(endpoints, channel, forMs)
    for (const unsubscribe of ends) await unsubscribe()
    await channel.waitForConfirms()
    await sleep(QUIET_MS)
    await purgeQueues(stack, 'delivery.')
    return spread
  }
}

async function load(endpoints: Endpoints, channel: ConfirmChannel, forMs: number): Promise<Spread> {
  const others = keepPace(OTHERS_PER_SECOND, forMs, (n) => publishEvent(channel, 'agent.status', timedData(n)))
  const spread = await observeLatency(endpoints, 0, {
    perSecond: EVENTS_PER_SECOND,
    until: forMs,
    send: (n) => publishEvent(channel, 'call.status', timedData(n)),
    perSend: NEIGHBOURS,
  })
  await others
  return spread
}
