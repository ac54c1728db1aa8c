import type { Bench } from '../bench.ts'
import { observeLatency } from '../load/arrivals.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, timedData } from '../load/events.ts'
import { subscribe } from '../load/subscriptions.ts'
import { residentMib } from '../measure/process-usage.ts'
import { type CostUs, createMeter } from '../measure/processor-cost.ts'
import { medianSpread, round, type Spread } from '../measure/statistics.ts'
import { startChild } from '../processes/child.ts'
import { pidsOf } from './stack-pids.ts'

const PER_SECOND = 500
const LISTENERS = 200
const WARM_UP_MS = 3_000
const RUNS = 3

const agentOf = (n: number): string => `sip:agent-${n % LISTENERS}@acme.example`

/** The listeners: none; 200 that each follow one agent; 200 that get every event and attempt. */
const AUDIENCES = {
  nobody: [],
  'one agent each': Array.from({ length: LISTENERS }, (_, n) => `?agentUri=${encodeURIComponent(agentOf(n))}`),
  everything: Array<string>(LISTENERS).fill(''),
} as const satisfies Readonly<Record<string, readonly string[]>>
export type AudienceName = keyof typeof AUDIENCES

/** Medians of the runs. */
interface Audience extends Spread {
  readonly runs: readonly Spread[]
  /** Processor time per event by process, in µs. */
  readonly costUs: CostUs
  /** Messages that the listeners received per second, all together. */
  readonly messagesPerSecond: number
  /** Reports of missing messages: a listener that does not keep up gets one. */
  readonly gaps: number
  /** Resident memory of the api after the runs. */
  readonly apiMib: number
}

export interface ListenersFigure {
  readonly listeners: number
  readonly audiences: Readonly<Record<AudienceName, Audience>>
}

/** The larger of the p50 and p99 of an audience, relative to those without listeners. */
export const slowdownOf = (name: AudienceName, { audiences }: ListenersFigure): number =>
  round(Math.max(audiences[name].p50Ms / audiences.nobody.p50Ms, audiences[name].p99Ms / audiences.nobody.p99Ms), 2)

/**
 * Time from publishing an event to its first POST, at a steady rate, without listeners on the live stream and with two
 * kinds of listeners. The three alternate.
 */
export async function measureListeners(bench: Bench): Promise<ListenersFigure> {
  const { stack, token, say, options, defer } = bench
  const endpoints = await openEndpoints([1])
  defer(() => endpoints.stop())
  const channel = await openChannel(bench)
  defer(await subscribe(stack, token, endpoints.urls[0] ?? []))
  const stream = `${stack.urls.apis[0] ?? ''}/api/v1/webhooks/stream`
  const names = Object.keys(AUDIENCES) as AudienceName[]
  const sides = Object.fromEntries(names.map((name) => [name, createSide(name)])) as Record<
    AudienceName,
    ReturnType<typeof createSide>
  >

  await publishFor(WARM_UP_MS)
  for (let run = 1; run <= RUNS; run++) {
    for (const name of names) await sides[name].run()
    say(`  run ${run} of ${RUNS}: ${names.map((name) => `${name} ${sides[name].last()}`).join(', ')}`)
  }
  const audiences = Object.fromEntries(names.map((name) => [name, sides[name].audience()]))
  return { listeners: LISTENERS, audiences: audiences as ListenersFigure['audiences'] }

  function publishFor(forMs: number): Promise<Spread> {
    return observeLatency(endpoints, 0, {
      perSecond: PER_SECOND,
      until: forMs,
      send: (n) => publishEvent(channel, 'call.status', { ...timedData(n), agentUri: agentOf(n) }),
    })
  }

  function createSide(name: AudienceName) {
    const runs: Spread[] = []
    const pids = pidsOf(stack, 'api', 'workers', 'fanout', 'rabbitmq', 'redis')
    const meter = createMeter(pids)
    let [messages, gaps, apiMib] = [0, 0, 0]
    return {
      async run(): Promise<void> {
        const queries = AUDIENCES[name]
        const child =
          queries.length === 0 ? undefined : await startChild('listeners-client.js', [stream, token, ...queries])
        try {
          runs.push(await meter.during(() => publishFor(options.RUN_TIME)))
          apiMib = Math.max(0, ...pids.api.map(residentMib))
          const heard = await child?.ask()
          messages += heard?.['messages'] ?? 0
          gaps += heard?.['gaps'] ?? 0
        } finally {
          await child?.stop()
        }
      },
      last: () => `p50 ${runs.at(-1)?.p50Ms} ms, p99 ${runs.at(-1)?.p99Ms} ms`,
      audience: (): Audience => ({
        ...medianSpread(runs),
        runs,
        costUs: meter.costUs(runs.reduce((sum, { count }) => sum + count, 0)),
        messagesPerSecond: round((messages * 1_000) / (RUNS * options.RUN_TIME), 0),
        gaps,
        apiMib: round(apiMib),
      }),
    }
  }
}
