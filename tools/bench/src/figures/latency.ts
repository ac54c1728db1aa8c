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

export const WARM_UP_MS = 5_000
const RUNS = 3
/** Of the clients of the presence commands. */
export const CONNECTIONS = 32
/** A pause. The message of a presence command differs each time, so each causes an event. */
const STATUS_CODE = 66

export const sideOf = (runs: readonly Spread[]) => ({ ...medianSpread(runs), runs })

/** Latency of Switchhook relative to two bare hops. */
export const toHops = ({ ours, hops }: { readonly ours: Spread; readonly hops: Spread }) => ({
  p50: round(ours.p50Ms / hops.p50Ms, 2),
  p99: round(ours.p99Ms / hops.p99Ms, 2),
})

/**
 * Two sides to measure in turns at the same rate: Switchhook, with one subscription for each event type, and two bare hops of
 * quorum queues, of which one process consumes events and publishes deliveries, and another consumes deliveries and POSTs.
 * The hops are what two quorum queues cost in any design.
 */
export async function openSides(bench: Bench) {
  const endpoints = await openEndpoints(bench, [1])
  const { url } = endpoints
  const channel = await openChannel(bench)
  const api = await openApi(bench, CONNECTIONS)
  for (const eventType of ['call.status', 'agent.status'] as const) {
    await subscribe(bench, [url], { eventType })
  }
  const loop = { ...bench, channel, url, perEvent: 1, eventsPerMessage: 1 }
  const bare = await openDurableLoop(loop, { packed: 1, workers: 1, records: false })
  type Send = Parameters<typeof observeLatency>[3]
  const side =
    (send: Send) =>
    (perSecond: number, forMs: number): Promise<Spread> =>
      observeLatency(endpoints, perSecond, forMs, send)
  return {
    /** What a further side needs. */
    side,
    loop,
    event: side((n) => publishEvent(channel, 'call.status', timedData(n))),
    presence: side((n) =>
      api.post(`/api/v1/voice/agents/${agentUri(n)}/presence`, {
        statusCode: STATUS_CODE,
        message: `sentAt ${monotonicMs()}`,
      }),
    ),
    hops: side((n) => bare.send(timedData(n))),
  }
}

/** Time from an event or a command to the arrival of its first POST, at a steady rate, each matching one subscription. */
export async function measureLatency(bench: Bench) {
  const { stack, say, options } = bench
  const sides = await openSides(bench)

  async function measureLoad(name: 'event' | 'presence', perSecond: number) {
    say(`  ${name} at ${perSecond}/s`)
    const [ours, hops]: [Spread[], Spread[]] = [[], []]
    await sides.hops(perSecond, WARM_UP_MS)
    await sides[name](perSecond, WARM_UP_MS)
    const carriage = await countCarriage(stack, async () => {
      for (let n = 1; n <= RUNS; n++) {
        hops.push(await sides.hops(perSecond, options.RUN_TIME))
        ours.push(await sides[name](perSecond, options.RUN_TIME))
      }
      return sum(ours.map(({ count }) => count))
    })
    return { perSecond, ours: sideOf(ours), hops: sideOf(hops), carriage }
  }

  const event = await measureLoad('event', 500)
  const presence = await measureLoad('presence', 100)
  return { runMs: options.RUN_TIME, loads: { event, presence } }
}
