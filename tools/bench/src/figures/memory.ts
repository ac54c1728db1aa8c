import type { Bench } from '../bench.ts'
import { keepPace } from '../load/arrivals.ts'
import { subscribe } from '../load/client.ts'
import { type Behaviour, openEndpoints } from '../load/endpoints.ts'
import { callData, openChannel, publishEvent, purgeQueues } from '../load/events.ts'
import { residentMib } from '../measure/process-usage.ts'
import { pidsOf } from '../measure/processor-cost.ts'
import { median, round, slope } from '../measure/statistics.ts'

const ENDPOINTS = 1_000
const WILD: readonly Behaviour[] = ['endless', 'bomb', 'headers', 'drip']
const OF_EACH = 25
/** Each event becomes a delivery for every endpoint. */
const EVENTS_PER_SECOND = 0.5
const CALM_MS = 12_000
const SAMPLE_MS = 500

/** Resident memory of the workers with a thousand endpoints: first all acknowledge, then some misbehave. */
export async function measureMemory(bench: Bench) {
  const { stack, say, options, defer } = bench
  const { workers: pids } = pidsOf(stack, 'workers')
  const endpoints = await openEndpoints(bench, [ENDPOINTS - WILD.length * OF_EACH, ...WILD.map(() => OF_EACH)])
  const channel = await openChannel(bench)
  defer(() => purgeQueues(stack, 'delivery.'))
  await subscribe(bench, endpoints.urls.flat())
  const samples: MemorySample[][] = pids.map(() => [])
  const startedAt = performance.now()
  const sample = (): void => {
    const seconds = round((performance.now() - startedAt) / 1_000)
    for (const [at, pid] of pids.entries()) samples[at]?.push([seconds, round(residentMib(pid))])
  }
  sample()
  const sampling = setInterval(sample, SAMPLE_MS)
  defer(() => clearInterval(sampling))
  const load = (forMs: number): Promise<number> =>
    keepPace(EVENTS_PER_SECOND, forMs, (n) => publishEvent(channel, 'call.status', callData(n)))

  await load(CALM_MS)
  await endpoints.take()
  defer(async () => {
    for (const at of WILD.keys()) await endpoints.behave(at + 1, 'quick')
  })
  for (const [at, behaviour] of WILD.entries()) await endpoints.behave(at + 1, behaviour)
  const wildFrom = (performance.now() - startedAt) / 1_000
  say(`  ${ENDPOINTS} endpoints that acknowledge; from now on ${WILD.length * OF_EACH} that do not`)
  await load(options.MEMORY_TIME)
  const { answered } = await endpoints.take()
  const workers = samples.map((own) => checkMemory(own, wildFrom))
  /** By behaviour: the endpoints, and the POSTs they answered that way. */
  const wild = Object.fromEntries(WILD.map((name) => [name, { endpoints: OF_EACH, answers: answered[name] ?? 0 }]))
  return { wild, workers }
}

export type MemorySample = readonly [seconds: number, mib: number]

/** During the first part of the load the heap finds its size. */
const WARM_UP_PART = 1 / 3
/** Tolerance for garbage that is not collected yet. */
const FLAT_WITHIN = 0.1

/** Whether memory stays flat after `fromSeconds` and the warm-up. */
export function checkMemory(samples: readonly MemorySample[], fromSeconds: number) {
  const lastSeconds = samples.at(-1)?.[0] ?? 0
  const warmFrom = fromSeconds + (lastSeconds - fromSeconds) * WARM_UP_PART
  const warm = samples.filter(([seconds]) => seconds >= warmFrom)
  const quarter = Math.max(1, Math.ceil(warm.length / 4))
  const medianMib = (part: readonly MemorySample[]): number => round(median(part.map(([, mib]) => mib)))
  const [warmMib, endMib] = [medianMib(warm.slice(0, quarter)), medianMib(warm.slice(-quarter))]
  return {
    startMib: samples[0]?.[1] ?? 0,
    /** Medians of the first and the last quarter after the warm-up. */
    warmMib,
    endMib,
    mostMib: Math.max(0, ...samples.map(([, mib]) => mib)),
    /** Slope of the straight line through all samples after the warm-up. */
    mibPerMinute: round(slope(warm) * 60),
    isFlat: endMib <= warmMib * (1 + FLAT_WITHIN),
  }
}
