import { setTimeout as sleep } from 'node:timers/promises'
import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { createSubscriptionStore } from '@switchhook/store'
import { aSubscription, unverified } from '@switchhook/testkit'

const CONCURRENCY = 20
/** Of the tenant, each to an endpoint of its own, and of its neighbour. More hang than the worker has places. */
const DELIVERIES = 2 * CONCURRENCY
/** A tenant's endpoints have a second until the worker knows that they hang. */
const EVERY_MS = 80
/** Much shorter than an attempt, for which the neighbour would wait. */
const WITHIN_MS = 20_000

let surroundings: WorkerSurroundings
useWorkerSurroundings((started) => (surroundings = started))

test('a tenant whose endpoints answer one retry in four and hang otherwise delays no other tenant', async () => {
  const { receiver, redis, openBroker, startWorker } = surroundings
  await startWorker({ DELIVERY_CONCURRENCY: `${CONCURRENCY}`, DELIVERY_TIMEOUT: '60s', SHUTDOWN_GRACE: '70s' })
  const broker = await openBroker()
  const store = createSubscriptionStore(redis, unverified, {})
  const subscribe = (tenant: string, path: string) => store.create(aSubscription({ tenant, url: receiver.url(path) }))

  /** Resolves once the neighbour has received all of its deliveries beside those of the tenant. */
  async function deliverBeside(name: 'calm' | 'harmful'): Promise<void> {
    const neighbour = await subscribe('globex', `/beside-${name}`)
    for (let n = 0; n < DELIVERIES; n++, await sleep(EVERY_MS)) {
      const endpoint = await subscribe('acme', `/${name}`)
      await broker.publishDelivery({ ...aDeliveryTo(endpoint), slot: 1, attempt: 1 })
      await broker.publishDelivery({ ...aDeliveryTo(neighbour), slot: 1, attempt: 1 })
    }
    await receiver.waitFor(DELIVERIES, `/beside-${name}`, { timeoutMs: WITHIN_MS })
  }
  receiver.answer('/harmful', (_, index) => (index % 4 === 0 ? { status: 204 } : { instead: 'hang' }))

  await deliverBeside('calm')
  await deliverBeside('harmful')
})
