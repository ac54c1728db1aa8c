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

const WARM_UP_MS = 5_000
const RUNS = 3
/** Of the clients of the presence commands. */
const CONNECTIONS = 32
/** A pause. The message of a presence command differs each time, so each causes an event. */
const STATUS_CODE = 66

const sideOf = (runs: readonly Spread[]) => ({ ...medianSpread(runs), runs })

/** Latency of Switchhook relative to two bare hops. */
export const toHops = ({ ours, hops }: { readonly ours: Spread; readonly hops: Spread }) => ({
  p50: round(ours.p50Ms / hops.p50Ms, 2),
  p99: round(ours.p99Ms / hops.p99Ms, 2),
})

/**
 * Time from an event or a command to the arrival of its first POST, at a steady rate, each matching one subscription. Runs
 * alternate with two bare hops of quorum queues at the same rate: one process consumes events and publishes deliveries,
 * another consumes deliveries and POSTs.
 */
export async function measureLatency(bench: Bench) {
  const { stack, say, options } = bench
  const endpoints = await openEndpoints(bench, [1])
  const { url } = endpoints
  const channel = await openChannel(bench)
  const api = await openApi(bench, CONNECTIONS)
  for (const eventType of ['call.status', 'agent.status'] as const) {
    await subscribe(bench, [url], { eventType })
  }
  const loop = { ...bench, channel, url, perEvent: 1, eventsPerMessage: 1 }
  const bare = await openDurableLoop(loop, { packed: 1, workers: 1, records: false })

  /**
   * The hops at the same rate are what two quorum queues cost in any design.
   * @param send starts one delivery whose body contains `sentAt`
   */
  async function measureLoad(name: string, perSecond: number, send: (n: number) => Promise<unknown> | void) {
    say(`  ${name} at ${perSecond}/s`)
    const [ours, hops]: [Spread[], Spread[]] = [[], []]
    const runOurs = (forMs: number): Promise<Spread> => observeLatency(endpoints, perSecond, forMs, send)
    const runHops = (forMs: number): Promise<Spread> =>
      observeLatency(endpoints, perSecond, forMs, (n) => bare.send(timedData(n)))
    await runHops(WARM_UP_MS)
    await runOurs(WARM_UP_MS)
    const carriage = await countCarriage(stack, async () => {
      for (let n = 1; n <= RUNS; n++) {
        hops.push(await runHops(options.RUN_TIME))
        ours.push(await runOurs(options.RUN_TIME))
      }
      return sum(ours.map(({ count }) => count))
    })
    return { perSecond, ours: sideOf(ours), hops: sideOf(hops), carriage }
  }

  const event = await measureLoad('event', 500, (n) => publishEvent(channel, 'call.status', timedData(n)))
  const presence = await measureLoad('presence', 100, (n) =>
    api.post(`/api/v1/voice/agents/${agentUri(n)}/presence`, {
      statusCode: STATUS_CODE,
      message: `sentAt ${monotonicMs()}`,
    }),
  )
  return { runMs: options.RUN_TIME, loads: { event, presence } }
}
