import { openDurableLoop } from '../baselines/durable-loop.ts'
import type { Bench } from '../bench.ts'
import { observeLatency } from '../load/arrivals.ts'
import { openApi, subscribe } from '../load/client.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, timedData } from '../load/events.ts'
import { countCarriage } from '../measure/carriage.ts'
import { monotonicMs } from '../measure/clock.ts'
import { medianSpread, round, type Spread, sum } from '../measure/statistics.ts'
import { agentUri } from './commands.ts'

/** What begins a delivery, and how often: an event published to RabbitMQ, or a presence command over REST. */
const LOADS = { event: { perSecond: 500 }, presence: { perSecond: 100 } } as const

const WARM_UP_MS = 5_000
const RUNS = 3
/** Of the clients of the presence commands. */
const CONNECTIONS = 32
/** A pause. The message of a presence command differs each time, so each causes an event. */
const STATUS_CODE = 66

/** Medians of the runs. */
const sideOf = (runs: readonly Spread[]) => ({ ...medianSpread(runs), runs })

/** Latency of Switchhook relative to two bare hops. */
export const toHops = ({ ours, hops }: { readonly ours: Spread; readonly hops: Spread }) => ({
  p50: round(ours.p50Ms / hops.p50Ms, 2),
  p99: round(ours.p99Ms / hops.p99Ms, 2),
})

/** Starts one delivery whose body contains `sentAt`. */
type Send = (n: number) => Promise<unknown> | void

/**
 * Time from an event or a command to the arrival of its first POST, at a steady rate, each matching one subscription. Runs
 * alternate with two bare hops of quorum queues at the same rate: one process consumes events and publishes deliveries,
 * another consumes deliveries and POSTs.
 */
export async function measureLatency(bench: Bench) {
  const { stack, say, options, defer } = bench
  const endpoints = await openEndpoints(bench, [1])
  const { url } = endpoints
  const channel = await openChannel(bench)
  const api = openApi(bench, CONNECTIONS)
  for (const eventType of ['call.status', 'agent.status'] as const) {
    await subscribe(bench, [url], { eventType })
  }
  const loop = { stack, defer, channel, url, perEvent: 1, eventsPerMessage: 1 }
  const hops = await openDurableLoop(loop, { packed: 1, workers: 1, records: false })
  const bare: Send = (n) => hops.send(timedData(n))
  const sends: Readonly<Record<keyof typeof LOADS, Send>> = {
    event: (n) => publishEvent(channel, 'call.status', timedData(n)),
    presence: (n) =>
      api.post(`/api/v1/voice/agents/${agentUri(n)}/presence`, {
        statusCode: STATUS_CODE,
        message: `sentAt ${monotonicMs()}`,
      }),
  }

  const run = (perSecond: number, forMs: number, send: Send): Promise<Spread> =>
    observeLatency(endpoints, { perSecond, until: forMs, send })

  async function measureLoad(name: keyof typeof LOADS) {
    const { perSecond } = LOADS[name]
    say(`  ${name} at ${perSecond}/s`)
    const runs = { ours: [] as Spread[], hops: [] as Spread[] }
    await run(perSecond, WARM_UP_MS, bare)
    const carriage = await countCarriage(stack, async () => {
      const warmUp = await run(perSecond, WARM_UP_MS, sends[name])
      for (let n = 1; n <= RUNS; n++) {
        runs.hops.push(await run(perSecond, options.RUN_TIME, bare))
        runs.ours.push(await run(perSecond, options.RUN_TIME, sends[name]))
      }
      return sum([warmUp, ...runs.ours].map(({ count }) => count))
    })
    // The hops at the same rate are what two quorum queues cost in any design.
    return { perSecond, ours: sideOf(runs.ours), hops: sideOf(runs.hops), carriage }
  }

  return {
    runMs: options.RUN_TIME,
    loads: { event: await measureLoad('event'), presence: await measureLoad('presence') },
  }
}
