import { openDurableLoop } from '../baselines/durable-loop.ts'
import type { Bench } from '../bench.ts'
import { observeLatency } from '../load/arrivals.ts'
import { openClient } from '../load/client.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, timedData } from '../load/events.ts'
import { subscribe } from '../load/subscriptions.ts'
import { type Carriage, countCarriage, describeCarriage } from '../measure/carriage.ts'
import { monotonicMs } from '../measure/clock.ts'
import { medianSpread, round, type Spread } from '../measure/statistics.ts'
import { agentUri } from './commands.ts'

/** What begins a delivery, and how often: an event published to RabbitMQ, or a presence command over REST. */
const LOADS = { event: { perSecond: 500 }, presence: { perSecond: 100 } } as const
type LoadName = keyof typeof LOADS

const WARM_UP_MS = 5_000
const RUNS = 3
const CONCURRENCY = 200
/** Of the clients of the presence commands. */
const CONNECTIONS = 32
/** A pause. The message of a presence command differs each time, so each causes an event. */
const STATUS_CODE = 66

/** Medians of the runs. */
interface Side extends Spread {
  readonly runs: readonly Spread[]
}
const sideOf = (runs: readonly Spread[]): Side => ({ ...medianSpread(runs), runs })

interface LoadFigure {
  readonly perSecond: number
  readonly ours: Side
  /** Two bare hops at the same rate: what two quorum queues cost in any design. */
  readonly hops: Side
  /** Null if the broker does not tell. */
  readonly carriage: Carriage | null
}

export interface LatencyFigure {
  readonly runMs: number
  readonly loads: Readonly<Record<LoadName, LoadFigure>>
}

/** Latency of Switchhook relative to two bare hops. */
export const toHops = ({ ours, hops }: LoadFigure) => ({
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
export async function measureLatency(bench: Bench): Promise<LatencyFigure> {
  const { stack, token, say, options, defer } = bench
  const endpoints = await openEndpoints([1])
  defer(() => endpoints.stop())
  const [[url = ''] = []] = endpoints.urls
  const channel = await openChannel(bench)
  const api = openClient(stack.urls.apis[0] ?? '', CONNECTIONS, token)
  defer(() => api.close())
  for (const eventType of ['call.status', 'agent.status'] as const) {
    defer(await subscribe(stack, token, [url], eventType))
  }
  const hops = await openDurableLoop(
    { stack, channel, url, perEvent: 1, eventsPerMessage: 1, concurrency: CONCURRENCY },
    { packed: 1, workers: 1, records: false },
  )
  defer(() => hops.close())
  const bare: Send = (n) => hops.send(timedData(n))
  const sends: Readonly<Record<LoadName, Send>> = {
    event: (n) => publishEvent(channel, 'call.status', timedData(n)),
    presence: (n) =>
      api.post(`/api/v1/voice/agents/${agentUri(n)}/presence`, {
        statusCode: STATUS_CODE,
        message: `sentAt ${monotonicMs()}`,
      }),
  }

  const run = (perSecond: number, forMs: number, send: Send): Promise<Spread> =>
    observeLatency(endpoints, 0, { perSecond, until: forMs, send })

  async function measureLoad(name: LoadName): Promise<LoadFigure> {
    const { perSecond } = LOADS[name]
    const runs = { ours: [] as Spread[], hops: [] as Spread[] }
    await run(perSecond, WARM_UP_MS, bare)
    const carriage = await countCarriage(stack, async () => {
      const warmUp = await run(perSecond, WARM_UP_MS, sends[name])
      for (let n = 1; n <= RUNS; n++) {
        runs.hops.push(await run(perSecond, options.RUN_TIME, bare))
        runs.ours.push(await run(perSecond, options.RUN_TIME, sends[name]))
      }
      return [warmUp, ...runs.ours].reduce((sum, { count }) => sum + count, 0)
    })
    const load = { perSecond, ours: sideOf(runs.ours), hops: sideOf(runs.hops), carriage }
    const { p50, p99 } = toHops(load)
    say(
      `  ${name} at ${perSecond}/s: p50 ${load.ours.p50Ms} ms, p99 ${load.ours.p99Ms} ms; ` +
        `to two bare hops ${p50} and ${p99}; ${describeCarriage(carriage)}`,
    )
    return load
  }

  return {
    runMs: options.RUN_TIME,
    loads: { event: await measureLoad('event'), presence: await measureLoad('presence') },
  }
}
