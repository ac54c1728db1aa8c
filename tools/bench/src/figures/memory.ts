import { connect } from 'amqplib'
import type { Bench } from '../bench.ts'
import { type Behaviour, openEndpoints } from '../load/endpoints.ts'
import { callData, publishEvent } from '../load/events.ts'
import { keepPace } from '../load/pace.ts'
import { purgeQueues, subscribe } from '../load/subscriptions.ts'
import { residentMib } from '../measure/process-usage.ts'
import { round } from '../measure/statistics.ts'
import { checkMemory, type MemorySample, type MemoryVerdict } from './check-memory.ts'
import { pidsOf } from './stack-pids.ts'

const ENDPOINTS = 1_000
const WILD: readonly Behaviour[] = ['endless', 'bomb', 'headers', 'drip']
const OF_EACH = 25
/** Each event becomes a delivery for every endpoint. */
const EVENTS_PER_SECOND = 0.5
const CALM_MS = 12_000
const SAMPLE_MS = 500

export interface MemoryFigure {
  /** By behaviour: the endpoints, and the POSTs they answered that way. */
  readonly wild: Readonly<Partial<Record<Behaviour, { readonly endpoints: number; readonly answers: number }>>>
  /** One entry per worker. */
  readonly workers: readonly MemoryVerdict[]
}

/** Resident memory of the workers with a thousand endpoints: first all acknowledge, then some misbehave. */
export async function measureMemory({ stack, token, say, options }: Bench): Promise<MemoryFigure> {
  const { workers: pids } = pidsOf(stack, 'workers')
  const endpoints = await openEndpoints([ENDPOINTS - WILD.length * OF_EACH, ...WILD.map(() => OF_EACH)])
  const model = await connect(stack.urls.amqp)
  const channel = await model.createConfirmChannel()
  const unsubscribe = await subscribe(stack, token, endpoints.urls.flat())
  const samples: MemorySample[][] = pids.map(() => [])
  const startedAt = performance.now()
  const sample = (): void => {
    const seconds = round((performance.now() - startedAt) / 1_000)
    for (const [at, pid] of pids.entries()) samples[at]?.push([seconds, round(residentMib(pid))])
  }
  sample()
  const sampling = setInterval(sample, SAMPLE_MS)
  const load = (forMs: number): Promise<number> =>
    keepPace(EVENTS_PER_SECOND, forMs, (n) => publishEvent(channel, 'call.status', callData(n)))
  try {
    await load(CALM_MS)
    await endpoints.take()
    for (const [at, behaviour] of WILD.entries()) await endpoints.behave(at + 1, behaviour)
    const wildFrom = (performance.now() - startedAt) / 1_000
    say(`  ${ENDPOINTS} endpoints that acknowledge; from now on ${WILD.length * OF_EACH} that do not`)
    await load(options.MEMORY_TIME)
    const { answered } = await endpoints.take()
    const workers = samples.map((own) => checkMemory(own, wildFrom))
    for (const { startMib, warmMib, endMib, mibPerMinute } of workers) {
      say(`  a worker: ${startMib} MiB, warm ${warmMib} MiB, at the end ${endMib} MiB (${mibPerMinute} MiB a minute)`)
    }
    const wild = WILD.map((name) => [name, { endpoints: OF_EACH, answers: answered[name] ?? 0 }])
    return { wild: Object.fromEntries(wild) as MemoryFigure['wild'], workers }
  } finally {
    clearInterval(sampling)
    for (const at of WILD.keys()) await endpoints.behave(at + 1, 'quick')
    await unsubscribe()
    await purgeQueues(stack, 'delivery.')
    await model.close()
    await endpoints.stop()
  }
}
