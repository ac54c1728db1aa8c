import { type Delivery, envelopesOf } from '@switchhook/contracts'
import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { createSubscriptionStore } from '@switchhook/store'
import { aSubscription, eventually, unverified } from '@switchhook/testkit'

let surroundings: WorkerSurroundings
useWorkerSurroundings((started) => (surroundings = started))

test('a delivery whose filter was set after the fan-out is withdrawn, and others tell of gaps on every attempt', async () => {
  const { receiver, redis } = surroundings
  const subscription = aSubscription({
    url: receiver.url('/ends'),
    filter: { 'call.status': { state: [7] } },
  })
  await createSubscriptionStore(redis, unverified, {}).create(subscription)
  const inState = (state: number): Delivery => {
    const delivery = aDeliveryTo(subscription)
    const { deliveryId, tenant } = delivery
    const occurredAt = new Date().toISOString()
    const event = { eventType: 'call.status', occurredAt, tenant } as const
    return { ...delivery, body: envelopesOf(event, JSON.stringify({ state }))(deliveryId) }
  }
  const broker = await surroundings.openBroker()
  receiver.answer('/ends', { status: 503 })
  await surroundings.startWorker({ DELIVERY_RETRY_WAITS: '200ms,200ms', BREAKER_FAILURES: '1000' })
  const [refused, passing] = [inState(2), inState(7)]
  await broker.publishDelivery(refused)
  await broker.publishDelivery(passing)
  await eventually(() => expect(receiver.requests('/ends')).toHaveLength(3), { timeoutMs: 20_000 })
  expect(receiver.requests('/ends').map(({ headers }) => [headers['x-svc-delivery'], headers['x-svc-sparse']])).toEqual(
    Array.from({ length: 3 }, () => [passing.deliveryId, 'true']),
  )
  const left = async () => (await surroundings.rabbit.management.queues()).filter(({ messages }) => messages > 0)
  await eventually(async () => expect(await left()).toEqual([]), { timeoutMs: 20_000 })
})
