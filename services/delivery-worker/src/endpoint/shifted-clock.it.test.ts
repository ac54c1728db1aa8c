import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Delivery, envelopesOf, type Subscription } from '@switchhook/contracts'
import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { createSubscriptionStore } from '@switchhook/store'
import { aSubscription, eventually, unverified } from '@switchhook/testkit'

const SHIFT = join(import.meta.dirname, '../../../../tools/chaos/src/faults/shifted-clock.ts')

let surroundings: WorkerSurroundings
useWorkerSurroundings((started) => (surroundings = started))

test('a worker whose clock is 45 s ahead expires nothing that is young, and sends nothing before the end of a pause', async () => {
  const { receiver, redis } = surroundings
  const subscribed = async (path: string, change: Partial<Subscription>): Promise<Delivery> => {
    const subscription = aSubscription({ url: receiver.url(path), ...change })
    await createSubscriptionStore(redis, unverified, {}).create(subscription)
    const delivery = aDeliveryTo(subscription)
    const event = { eventType: 'call.status', occurredAt: new Date().toISOString(), tenant: delivery.tenant } as const
    return { ...delivery, body: envelopesOf(event, JSON.stringify({ state: 2 }))(delivery.deliveryId) }
  }
  const broker = await surroundings.openBroker()
  await surroundings.startWorker({
    NODE_OPTIONS: `--import=${pathToFileURL(SHIFT).href}`,
    CHAOS_CLOCK_SHIFT_MS: '45000',
  })
  const resumesAtMs = Date.now() + 4_000
  const paused = await subscribed('/paused', { pausedUntil: new Date(resumesAtMs).toISOString() })
  await broker.publishDelivery(paused)
  await broker.publishDelivery(await subscribed('/young', { expireAfterSeconds: 30 }))
  await eventually(() => expect(receiver.requests('/young')).toHaveLength(1), { timeoutMs: 20_000 })
  let arrivedAtMs = 0
  await eventually(
    () => {
      expect(receiver.requests('/paused')).toHaveLength(1)
      arrivedAtMs ||= Date.now()
    },
    { timeoutMs: 20_000 },
  )
  expect(arrivedAtMs).toBeGreaterThanOrEqual(resumesAtMs)
})
