import { type Bench, closing } from '../bench.ts'
import { observeLatency } from '../load/arrivals.ts'
import { subscribe } from '../load/client.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, timedData } from '../load/events.ts'
import { residentMib } from '../measure/process-usage.ts'
import { createMeter, pidsOf } from '../measure/processor-cost.ts'
import { mapValues, medianSpread, round, type Spread, sum } from '../measure/statistics.ts'
import { startChild } from '../processes/child.ts'

const PER_SECOND = 500
const LISTENERS = 200
const WARM_UP_MS = 3_000
const RUNS = 3

const agentOf = (n: number): string => `sip:agent-${n % LISTENERS}@acme.example`

/** The listeners: none; 200 that each follow one agent; 200 that get every event and attempt. */
const AUDIENCES: Readonly<Record<'nobody' | 'one agent each' | 'everything', readonly string[]>> = {
  nobody: [],
  'one agent each': Array.from({ length: LISTENERS }, (_, n) => `?agentUri=${encodeURIComponent(agentOf(n))}`),
  everything: Array<string>(LISTENERS).fill(''),
}
type AudienceName = keyof typeof AUDIENCES

/** The larger of the p50 and p99 of an audience, relative to those without listeners. */
export function slowdownOf(name: AudienceName, { audiences }: Awaited<ReturnType<typeof measureListeners>>): number {
  const [audience, { nobody }] = [audiences[name], audiences]
  return round(Math.max(audience.p50Ms / nobody.p50Ms, audience.p99Ms / nobody.p99Ms), 2)
}

/**
 * Time from publishing an event to its first POST, at a steady rate, without listeners on the live stream and with two
 * kinds of listeners. The three alternate.
 */
export async function measureListeners(bench: Bench) {
  const { stack, tokenOf, say, options } = bench
  const endpoints = await openEndpoints(bench, [1])
  const channel = await openChannel(bench)
  await subscribe(bench, [endpoints.url])
  const stream = [`${stack.urls.apis[0] ?? ''}/api/v1/webhooks/stream`, await tokenOf()]
  const sides = mapValues(AUDIENCES, createSide)

  await publishFor(WARM_UP_MS)
  for (let run = 1; run <= RUNS; run++) {
    for (const side of Object.values(sides)) await side.run()
    say(`  run ${run} of ${RUNS}`)
  }
  return { listeners: LISTENERS, audiences: mapValues(sides, ({ audience }) => audience()) }

  function publishFor(forMs: number): Promise<Spread> {
    return observeLatency(endpoints, PER_SECOND, forMs, (n) =>
      publishEvent(channel, 'call.status', { ...timedData(n), agentUri: agentOf(n) }),
    )
  }

  function createSide(queries: readonly string[]) {
    const runs: Spread[] = []
    const pids = pidsOf(stack, 'api', 'workers', 'fanout', 'rabbitmq', 'redis')
    const meter = createMeter(pids)
    let [messages, gaps, apiMib] = [0, 0, 0]
    return {
      run: () =>
        closing(bench, async (part) => {
          const args = [...stream, ...queries]
          const child = queries.length === 0 ? undefined : await startChild(part, 'listeners-client.js', args)
          runs.push(await meter.during(() => publishFor(options.RUN_TIME)))
          apiMib = Math.max(0, ...pids.api.map(residentMib))
          const heard = await child?.ask()
          messages += heard?.['messages'] ?? 0
          gaps += heard?.['gaps'] ?? 0
        }),
      /** Medians of the runs. */
      audience: () => ({
        ...medianSpread(runs),
        runs,
        /** Processor time per event by process, in µs. */
        costUs: meter.costUs(sum(runs.map(({ count }) => count))),
        /** Messages that the listeners received per second, all together. */
        messagesPerSecond: round((messages * 1_000) / (RUNS * options.RUN_TIME), 0),
        /** Reports of missing messages: a listener that does not keep up gets one. */
        gaps,
        /** Resident memory of the api after the runs. */
        apiMib: round(apiMib),
      }),
    }
  }
}
