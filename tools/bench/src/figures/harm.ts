import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { type Bench, closing } from '../bench.ts'
import { keepPace, observeLatency } from '../load/arrivals.ts'
import { openApi, subscribe } from '../load/client.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, purgeQueues, timedData } from '../load/events.ts'
import { harms } from '../load/harm.ts'
import { residentMib } from '../measure/process-usage.ts'
import { pidsOf } from '../measure/processor-cost.ts'
import { mapValues, round, type Spread, spreadOf } from '../measure/statistics.ts'

const NEIGHBOUR = 'tenant-31'
/** Deliveries and requests of the neighbour. */
const PER_SECOND = 20
const RARELY_ENDPOINTS = 150
const WARM_UP_MS = 2_000
const SAMPLE_MS = 500
const PARTS = ['api', 'fanout', 'workers', 'redis'] as const
type Memory = Readonly<Record<(typeof PARTS)[number], number>>

/** Another tenant and the memory of each part, first alone, then beside each kind of harm. */
export async function measureHarm(bench: Bench) {
  const { say, stack, options } = bench
  const channel = await openChannel(bench)
  const endpoints = await openEndpoints(bench, [1, RARELY_ENDPOINTS])
  const [own = [], rarely = []] = endpoints.urls
  await endpoints.behave(1, 'one in 4')
  await subscribe(bench, own, { tenant: NEIGHBOUR })
  const api = await openApi(bench, PER_SECOND, NEIGHBOUR)
  const pids = pidsOf(stack, ...PARTS)

  await observe('warm-up', WARM_UP_MS)
  const rows = [await observe('nothing', options.RUN_TIME)]
  for (const [harm, begin] of Object.entries(harms(rarely))) {
    rows.push(
      await closing(bench, async (part) => {
        part.defer(() => purgeQueues(stack, 'delivery.'))
        await begin(part)
        return await observe(harm, options.RUN_TIME)
      }),
    )
  }
  return { forMs: options.RUN_TIME, limitsMib: readLimits(), rows }

  async function observe(harm: string, forMs: number) {
    let most: Memory = mapValues(pids, () => 0)
    const sample = (): void => {
      most = mapValues(most, (mib, part) => Math.max(mib, ...pids[part].map((pid) => Math.round(residentMib(pid)))))
    }
    const sampling = setInterval(sample, SAMPLE_MS)
    sample()
    const asked: Promise<number>[] = []
    const asking = keepPace(PER_SECOND, forMs, () => void asked.push(timeRequest()))
    const deliveries = await observeLatency(endpoints, PER_SECOND, forMs, (n) =>
      publishEvent(channel, 'call.status', timedData(n), NEIGHBOUR),
    ).finally(() => clearInterval(sampling))
    await asking
    const requests: Spread = spreadOf(await Promise.all(asked))
    say(`  ${harm}: deliveries ${deliveries.p99Ms} ms, requests ${requests.p99Ms} ms`)
    return { harm, deliveries, requests, mostMib: most }
  }

  async function timeRequest(): Promise<number> {
    const startedAt = performance.now()
    await api.get('/api/v1/webhooks/subscriptions?limit=1')
    return round(performance.now() - startedAt)
  }
}

const VALUES = new URL('../../../../infra/helm/switchhook/values.yaml', import.meta.url)

type Values = Readonly<Record<'api' | 'fanout' | 'deliveryWorker', { resources: { limits: { memory: string } } }>> & {
  readonly redis: { readonly memoryMi: number }
}

/** The memory limits of the Helm chart, in MiB. */
function readLimits(): Memory {
  const { api, fanout, deliveryWorker, redis } = parse(readFileSync(VALUES, 'utf8')) as Values
  const [ofApi = 0, ofFanout = 0, workers = 0] = [api, fanout, deliveryWorker].map((part) =>
    Number.parseInt(part.resources.limits.memory),
  )
  return { api: ofApi, fanout: ofFanout, workers, redis: redis.memoryMi }
}
