import { join } from 'node:path'
import { type Delivery, deliveryIdOf, newEventId, newSubscriptionId, type Subscription } from '@switchhook/contracts'
import { type Broker, openBroker, serviceTopology } from '@switchhook/messaging'
import { createSubscriptionStore, openRedis, type Redis } from '@switchhook/store'
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
const PATIENT = { timeoutMs: 20_000 }

let rabbit: TestBroker
let redisServer: TestRedis
let redis: Redis
let receiver: Receiver
let worker: ServiceProcess | undefined
const opened: Broker[] = []

beforeEach(async () => {
  ;[rabbit, redisServer, receiver] = await Promise.all([testBroker(), testRedis(), startReceiver()])
  redis = await openRedis({ url: redisServer.redisUrl, log: silentLog, name: 'test' })
})

afterEach(async () => {
  await endWorker('SIGKILL')
  await Promise.all([...opened.splice(0).map((broker) => broker.close()), redis.close(), receiver.close()])
  await Promise.all([rabbit.close(), redisServer.close()])
})

async function startWorker(env: Readonly<Record<string, string>>): Promise<void> {
  worker = await startServiceProcess(join(import.meta.dirname, '../main.ts'), {
    AMQP_URL: rabbit.amqpUrl,
    REDIS_URL: redisServer.redisUrl,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    // A cool-down would use up slots that the tests count.
    BREAKER_FAILURES: '1000',
    ...env,
  })
}

async function endWorker(signal: NodeJS.Signals): Promise<void> {
  await worker?.kill(signal)
  worker = undefined
}

async function openTestBroker(shards = 1): Promise<Broker> {
  const topology = serviceTopology([], { deliveryShards: shards })
  const broker = await openBroker({ url: rabbit.amqpUrl, topology, log: silentLog, name: 'test' })
  opened.push(broker)
  return broker
}

async function aDelivery(path: string): Promise<Delivery> {
  const subscription: Subscription = {
    id: newSubscriptionId(),
    tenant: 'acme',
    url: receiver.url(path),
    eventTypes: ['call.status'],
    description: null,
    enabled: true,
    createdAt: new Date().toISOString(),
  }
  await createSubscriptionStore(redis).create(subscription)
  const eventId = newEventId()
  return {
    deliveryId: deliveryIdOf(eventId, subscription.id),
    subscriptionId: subscription.id,
    eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url: subscription.url,
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: new Date().toISOString(),
    body: Buffer.from('{}'),
  }
}

const attemptsAt = (path: string): unknown[] => receiver.requests(path).map(({ headers }) => headers['x-svc-attempt'])

test('after a change of the schedule, a waiting delivery keeps its old wait and continues with the new schedule', async () => {
  const broker = await openTestBroker()
  receiver.answer('/hook', { status: 503 })
  await startWorker({ DELIVERY_RETRY_WAITS: '3s,1h,1h' })
  const delivery = await aDelivery('/hook')
  await broker.publishDelivery(delivery)
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1']), PATIENT)
  // The worker exits only when its delivery is confirmed in the wait queue.
  await endWorker('SIGTERM')
  // Slot 1 falls due after the old wait. The wait before slot 2, and the end after it, belong to the new schedule.
  await startWorker({ DELIVERY_RETRY_WAITS: '500ms,200ms' })
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1', '2', '3']), PATIENT)
  const [first, second, third] = receiver.requests('/hook').map(({ receivedAt }) => receivedAt) as [
    number,
    number,
    number,
  ]
  expect(second - first).toBeGreaterThanOrEqual(2_900)
  expect(third - second).toBeLessThan(2_900)
  const left = async (): Promise<unknown> =>
    (await rabbit.management.queues()).filter(({ messages }) => messages > 0).map(({ name }) => name)
  await eventually(async () => expect(await left()).toEqual([]), PATIENT)
  expect(attemptsAt('/hook')).toHaveLength(3)
})

test('after a change to a schedule too short for its slot, a waiting delivery still gets its scheduled attempt', async () => {
  const broker = await openTestBroker()
  receiver.answer('/hook', { status: 503 })
  await startWorker({ DELIVERY_RETRY_WAITS: '1s,1s,1s' })
  await broker.publishDelivery(await aDelivery('/hook'))
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1', '2', '3']), PATIENT)
  await endWorker('SIGTERM')
  receiver.answer('/hook', { status: 204 })
  await startWorker({ DELIVERY_RETRY_WAITS: 'none' })
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1', '2', '3', '4']), PATIENT)
})

test('a new deadline and a new concurrency apply after the restart', async () => {
  const broker = await openTestBroker()
  const slow = { DELIVERY_RETRY_WAITS: '300ms,300ms', SUBSCRIPTION_CONCURRENCY: '1' }
  receiver.answer('/hook', { instead: 'hang' })
  await startWorker({ ...slow, DELIVERY_TIMEOUT: '9s' })
  await broker.publishDelivery(await aDelivery('/hook'))
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1']), PATIENT)
  await endWorker('SIGKILL')
  // The attempt that was cut off is not recorded, so it is made again.
  await startWorker({ ...slow, DELIVERY_TIMEOUT: '300ms', SUBSCRIPTION_CONCURRENCY: '3' })
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1', '1', '2', '3']), PATIENT)
})

test('after a change to fewer or more shards, every delivery is made, whichever queue it was in', async () => {
  const broker = await openTestBroker(4)
  receiver.answer('/hook', { status: 204 })
  const deliveries = await Promise.all(Array.from({ length: 24 }, () => aDelivery('/hook')))
  await Promise.all(deliveries.slice(0, 12).map((delivery) => broker.publishDelivery(delivery)))
  await startWorker({ DELIVERY_SHARDS: '1' })
  await eventually(() => expect(receiver.requests('/hook')).toHaveLength(12), PATIENT)
  await endWorker('SIGTERM')
  await startWorker({ DELIVERY_SHARDS: '6' })
  await Promise.all(deliveries.slice(12).map((delivery) => broker.publishDelivery(delivery)))
  await eventually(() => expect(receiver.requests('/hook')).toHaveLength(24), PATIENT)
  const consumed = (await rabbit.management.queues()).filter(({ name }) => name.startsWith('delivery.due'))
  expect(consumed).toHaveLength(6)
})
