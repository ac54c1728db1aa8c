import type { Bench } from '../bench.ts'
import { type Behaviour, openEndpoints } from '../load/endpoints.ts'
import { callData, openChannel, publishEvent } from '../load/events.ts'
import { keepPace } from '../load/pace.ts'
import { purgeQueues, subscribe } from '../load/subscriptions.ts'
import { residentMib } from '../measure/process-usage.ts'
import { round } from '../measure/statistics.ts'
import { checkMemory, type MemorySample } from './check-memory.ts'
import { pidsOf } from './stack-pids.ts'

const ENDPOINTS = 1_000
const WILD: readonly Behaviour[] = ['endless', 'bomb', 'headers', 'drip']
const OF_EACH = 25
/** Each event becomes a delivery for every endpoint. */
const EVENTS_PER_SECOND = 0.5
const CALM_MS = 12_000
const SAMPLE_MS = 500

/** Resident memory of the workers with a thousand endpoints: first all acknowledge, then some misbehave. */
export async function measureMemory(bench: Bench) {
  const { stack, token, say, options, defer } = bench
  const { workers: pids } = pidsOf(stack, 'workers')
  const endpoints = await openEndpoints([ENDPOINTS - WILD.length * OF_EACH, ...WILD.map(() => OF_EACH)])
  defer(() => endpoints.stop())
  const channel = await openChannel(bench)
  defer(() => purgeQueues(stack, 'delivery.'))
  defer(await subscribe(stack, token, endpoints.urls.flat()))
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
  for (const { startMib, warmMib, endMib, mibPerMinute } of workers) {
    say(`  a worker: ${startMib} MiB, warm ${warmMib} MiB, at the end ${endMib} MiB (${mibPerMinute} MiB a minute)`)
  }
  /** By behaviour: the endpoints, and the POSTs they answered that way. */
  const wild = Object.fromEntries(WILD.map((name) => [name, { endpoints: OF_EACH, answers: answered[name] ?? 0 }]))
  return { wild, workers }
}
