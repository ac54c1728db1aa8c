import { setTimeout as sleep } from 'node:timers/promises'
import { createSubscriptionStore } from '@switchhook/store'
import { aDeliveryTo, aSubscription } from '../testing/deliveries.ts'
import { type Surroundings, useSurroundings } from '../testing/surroundings.ts'

const ENDPOINTS = 60
const LOAD_MS = 3_000
/** Of the tenant, and of its neighbour. */
const EVERY_MS = 80
/** The neighbour waits for as long as an attempt takes, if all places are taken. */
const TIMEOUT_MS = 5_000

let surroundings: Surroundings
useSurroundings((started) => (surroundings = started))

test('a tenant whose endpoints answer one retry in four and hang otherwise delays no other tenant', async () => {
  const { receiver, redis, openBroker, startWorker } = surroundings
  await startWorker({ DELIVERY_CONCURRENCY: '20', DELIVERY_TIMEOUT: `${TIMEOUT_MS}ms` })
  const broker = await openBroker()
  const store = createSubscriptionStore(redis)
  const subscribe = (tenant: string, path: string) => store.create(aSubscription({ tenant, url: receiver.url(path) }))
  const neighbour = await subscribe('globex', '/neighbour')

  /** The greatest latency of the neighbour while a tenant has deliveries for these endpoints. */
  async function greatestMs(paths: readonly string[]): Promise<number> {
    const endpoints = await Promise.all(paths.map((path) => subscribe('acme', path)))
    const sentAt: number[] = []
    const earlier = receiver.requests('/neighbour').length
    for (const endMs = performance.now() + LOAD_MS; performance.now() < endMs; await sleep(EVERY_MS)) {
      const endpoint = endpoints[sentAt.length % ENDPOINTS] ?? neighbour
      sentAt.push(Date.now())
      await broker.publishDelivery({ ...aDeliveryTo(endpoint), slot: 1, attempt: 1 })
      await broker.publishDelivery({ ...aDeliveryTo(neighbour), slot: 1, attempt: 1 })
    }
    const requests = await receiver.waitFor(earlier + sentAt.length, '/neighbour', { timeoutMs: 2 * TIMEOUT_MS })
    return Math.max(...requests.slice(earlier).map(({ receivedAt }, n) => receivedAt - (sentAt[n] ?? 0)))
  }
  const pathsOf = (name: string) => Array.from({ length: ENDPOINTS }, (_, n) => `/${name}/${n}`)
  const [calm, harmful] = [pathsOf('calm'), pathsOf('harmful')]
  for (const [n, path] of harmful.entries())
    receiver.answer(path, (_, index) => ((n + index) % 4 === 0 ? { status: 204 } : { instead: 'hang' }))

  const calmMs = await greatestMs(calm)
  expect((await greatestMs(harmful)) - calmMs).toBeLessThan(TIMEOUT_MS / 2)
})
