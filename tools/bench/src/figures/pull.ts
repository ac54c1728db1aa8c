import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { observeLatency } from '../load/arrivals.ts'
import { openApi, subscribe } from '../load/client.ts'
import { openEndpoints } from '../load/endpoints.ts'
import { openChannel, publishEvent, publishMany, timedData } from '../load/events.ts'
import type { Spread } from '../measure/statistics.ts'

const OTHER = 'tenant-2'
const OTHER_PER_SECOND = 50
const WARM_UP_MS = 2_000
const ALONE_MS = 12_000
const LOOK_EVERY_MS = 250
const RECEIVE = { max: 100, waitSeconds: 1, leaseSeconds: 60 }

interface Received {
  readonly items: readonly { readonly deliveryId: string; readonly leaseToken: string }[]
}

/** Latency of another tenant beside the held deliveries of a pull subscription, and while one client receives all of them. */
export async function measurePull(bench: Bench) {
  const { say, options, defer } = bench
  const { HELD: held } = options
  const endpoints = await openEndpoints(bench, [1])
  const channel = await openChannel(bench)
  const api = await openApi(bench, 4)
  await subscribe(bench, [endpoints.url], { tenant: OTHER })
  const { id } = await api.post('/api/v1/webhooks/subscriptions', { mode: 'pull', eventTypes: ['call.status'] })
  const path = `/api/v1/webhooks/subscriptions/${String(id)}`
  defer(() => api.delete(path))

  await observe(WARM_UP_MS)
  const alone = await observe(ALONE_MS)
  say(`  while ${held} deliveries are held`)
  const holdingMs = await hold()
  await observe(WARM_UP_MS)
  const beside = await observe(ALONE_MS)
  say('  while one client receives them')
  let isOver = false
  const receiving = receiveAll().finally(() => (isOver = true))
  const [during, receivedPerSecond] = await Promise.all([observe(() => isOver), receiving])
  return {
    held,
    /** From the first event until all of them are held. */
    holdingMs,
    receivedPerSecond,
    /** Latency of the other tenant: before, beside what is held, and while one client receives it. */
    alone,
    beside,
    during,
  }

  function observe(until: number | (() => boolean)): Promise<Spread> {
    return observeLatency(endpoints, OTHER_PER_SECOND, until, (n) =>
      publishEvent(channel, 'call.status', timedData(n), OTHER),
    )
  }

  async function hold(): Promise<number> {
    const startedAt = performance.now()
    await publishMany(channel, held)
    while (((await api.get(path)) as { readonly held: { readonly count: number } }).held.count < held) {
      await sleep(LOOK_EVERY_MS)
    }
    return Math.round(performance.now() - startedAt)
  }

  /** Reports the outcomes of one part while it receives the next. Resolves to deliveries per second. */
  async function receiveAll(): Promise<number> {
    const startedAt = performance.now()
    let reporting: Promise<unknown> = Promise.resolve()
    for (let received = 0; received < held; ) {
      const { items } = (await api.post(`${path}/receive`, RECEIVE)) as unknown as Received
      received += items.length
      await reporting
      if (items.length === 0) continue
      const outcomes = items.map(({ deliveryId, leaseToken }) => ({ deliveryId, leaseToken, status: 200 }))
      reporting = api.post(`${path}/outcomes`, { items: outcomes })
    }
    await reporting
    return Math.round((held * 1_000) / (performance.now() - startedAt))
  }
}
