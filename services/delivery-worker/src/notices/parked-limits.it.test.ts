import { join } from 'node:path'
import {
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  type PlatformEvent,
  parseEvent,
  type Subscription,
} from '@switchhook/contracts'
import { type Broker, openBroker, Queue, serviceTopology } from '@switchhook/messaging'
import {
  createDeliveryArchive,
  createParkedCounter,
  createSubscriptionStore,
  openRedis,
  type Redis,
} from '@switchhook/store'
import {
  eventually,
  type Receiver,
  type ServiceProcess,
  silentLog,
  startReceiver,
  startServiceProcess,
  type TestBroker,
  type TestRedis,
  testBroker,
  testRedis,
} from '@switchhook/testkit'

jest.setTimeout(60_000)
const PATIENT = { timeoutMs: 30_000 }

let rabbit: TestBroker
let redisServer: TestRedis
let redis: Redis
let receiver: Receiver
let broker: Broker
let worker: ServiceProcess

beforeEach(async () => {
  ;[rabbit, redisServer, receiver] = await Promise.all([testBroker(), testRedis(), startReceiver()])
  redis = await openRedis({ url: redisServer.redisUrl, log: silentLog, name: 'test' })
  broker = await openBroker({ url: rabbit.amqpUrl, topology: serviceTopology([]), log: silentLog, name: 'test' })
  worker = await startServiceProcess(join(import.meta.dirname, '../main.ts'), {
    AMQP_URL: rabbit.amqpUrl,
    REDIS_URL: redisServer.redisUrl,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    PARKED_LIMIT_PER_SUBSCRIPTION: '2',
  })
})

afterEach(async () => {
  await redisServer.limitMemory(0)
  await worker.kill()
  await Promise.all([broker.close(), redis.close(), receiver.close()])
  await Promise.all([rabbit.close(), redisServer.close()])
})

async function subscribe(path: string, eventTypes: Subscription['eventTypes']): Promise<Subscription> {
  return createSubscriptionStore(redis).create({
    id: newSubscriptionId(),
    tenant: 'acme',
    url: receiver.url(path),
    eventTypes,
    description: null,
    enabled: true,
    createdAt: new Date().toISOString(),
  })
}

async function publish({ id, url }: Subscription): Promise<Delivery> {
  const eventId = newEventId()
  const delivery: Delivery = {
    deliveryId: deliveryIdOf(eventId, id),
    subscriptionId: id,
    eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url,
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: new Date().toISOString(),
    body: Buffer.from('{}'),
  }
  await broker.publishDelivery(delivery)
  return delivery
}

test('parked deliveries beyond the limit lose their body, then are dropped, and the tenant gets one notice', async () => {
  receiver.answer('/gone', { status: 410 })
  const subscription = await subscribe('/gone', ['call.status'])
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
  receiver.answer('/gone', { status: 410 })
  const acknowledging = await subscribe('/ok', ['call.status'])
  const rejecting = await subscribe('/gone', ['call.status'])
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
