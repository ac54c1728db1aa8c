import { type Delivery, type PlatformEvent, parseEvent, type Subscription } from '@switchhook/contracts'
import { type Broker, Queue } from '@switchhook/messaging'
import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { createDeliveryArchive, createParkedCounter } from '@switchhook/store'
import { eventually, type ServiceProcess } from '@switchhook/testkit'

const PATIENT = { timeoutMs: 30_000 }

let surroundings: WorkerSurroundings
let broker: Broker
let worker: ServiceProcess

// Before the server is closed.
afterEach(() => surroundings.redisServer.limitMemory(0))
useWorkerSurroundings((started) => (surroundings = started))

beforeEach(async () => {
  broker = await surroundings.openBroker()
  worker = await surroundings.startWorker({ PARKED_LIMIT_PER_SUBSCRIPTION: '2' })
})

async function publish(subscription: Subscription): Promise<Delivery> {
  const delivery = aDeliveryTo(subscription)
  await broker.publishDelivery(delivery)
  return delivery
}

test('parked deliveries beyond the limit lose their body, then are dropped, and the tenant gets one notice', async () => {
  const { receiver, redis, subscribe } = surroundings
  receiver.answer('/gone', { status: 410 })
  const subscription = await subscribe('/gone')
  await subscribe('/ops', ['webhook.parked.limit'])
  const notices: PlatformEvent[] = []
  await broker.consume({
    queue: Queue.fanoutEvents,
    parse: ({ content }) => parseEvent(content),
    handle: async (event) => void notices.push(event),
    concurrency: 10,
    recovered: async () => {},
  })
  const counter = createParkedCounter(redis)
  for (let i = 0; i < 7; i++) await publish(subscription)
  await eventually(
    async () => expect(await counter.count(subscription.id)).toMatchObject({ count: 4, withoutBody: 2, dropped: 3 }),
    PATIENT,
  )
  await eventually(() => expect(notices).toHaveLength(1), PATIENT)
  expect(notices).toMatchObject([{ eventType: 'webhook.parked.limit', tenant: 'acme', data: { limit: 2 } }])
  await publish(subscription)
  await eventually(async () => expect(await counter.count(subscription.id)).toMatchObject({ dropped: 4 }), PATIENT)
  expect(notices).toHaveLength(1)
})

test('while Redis is full the worker pauses, and loses and quarantines nothing; afterwards it resumes without help', async () => {
  const { receiver, rabbit, redis, redisServer, subscribe } = surroundings
  receiver.answer('/gone', { status: 410 })
  const acknowledging = await subscribe('/ok')
  const rejecting = await subscribe('/gone')
  await redisServer.limitMemory(1)
  const deliveries = [await publish(acknowledging), await publish(rejecting)]
  await eventually(() => expect(worker.lines().map(({ message }) => message)).toContain('consuming paused'), PATIENT)
  const archive = createDeliveryArchive(redis)
  for (const { deliveryId } of deliveries) expect(await archive.find(deliveryId)).toBeUndefined()
  await redisServer.limitMemory(0)
  const states = async (): Promise<unknown[]> =>
    Promise.all(deliveries.map(async ({ deliveryId }) => (await archive.find(deliveryId))?.state))
  await eventually(async () => expect(await states()).toEqual(['acknowledged', 'parked']), PATIENT)
  const queues = await rabbit.management.queues()
  expect(queues.find(({ name }) => name === 'quarantine')?.messages ?? 0).toBe(0)
})
