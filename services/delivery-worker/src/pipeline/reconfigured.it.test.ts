import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Delivery, deliveryIdOf, newEventId, newSubscriptionId, type Subscription } from '@switchhook/contracts'
import { type Broker, openBroker, serviceTopology } from '@switchhook/messaging'
import { createSubscriptionStore, openRedis, type Redis } from '@switchhook/store'
import {
  eventually,
  type Receiver,
  startReceiver,
  type TestBroker,
  type TestRedis,
  testBroker,
  testRedis,
} from '@switchhook/testkit'

jest.setTimeout(60_000)
const quiet = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
const PATIENT = { timeoutMs: 20_000 }

let rabbit: TestBroker
let redisServer: TestRedis
let redis: Redis
let receiver: Receiver
let worker: ChildProcess | undefined
const opened: Broker[] = []

beforeEach(async () => {
  ;[rabbit, redisServer, receiver] = await Promise.all([testBroker(), testRedis(), startReceiver()])
  redis = await openRedis({ url: redisServer.redisUrl, log: quiet, name: 'test' })
})

afterEach(async () => {
  await endWorker('SIGKILL')
  await Promise.all([...opened.splice(0).map((broker) => broker.close()), redis.close(), receiver.close()])
  await Promise.all([rabbit.close(), redisServer.close()])
})

/** The worker as it is run: a process of its own, told by its environment alone. */
async function startWorker(env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, ['--conditions=source', join(import.meta.dirname, '../main.ts')], {
    env: {
      AMQP_URL: rabbit.amqpUrl,
      REDIS_URL: redisServer.redisUrl,
      HEALTH_PORT: '0',
      NODE_ENV: 'test',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      // It would come between the slots that are counted here.
      BREAKER_FAILURES: '1000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  worker = child
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await eventually(() => expect(output).toContain('"started"'), PATIENT)
}

async function endWorker(signal: NodeJS.Signals): Promise<void> {
  const child = worker
  worker = undefined
  if (child === undefined || child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

async function openTestBroker(shards = 1): Promise<Broker> {
  const topology = serviceTopology([], 0, shards)
  const broker = await openBroker({ url: rabbit.amqpUrl, topology, log: quiet, name: 'test' })
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

test('with another schedule, what waits under the old one comes back and goes on under the new one', async () => {
  const broker = await openTestBroker()
  receiver.answer('/hook', { status: 503 })
  await startWorker({ DELIVERY_RETRY_WAITS: '3s,1h,1h' })
  const delivery = await aDelivery('/hook')
  await broker.publishDelivery(delivery)
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1']), PATIENT)
  // It ends only when what it has in hand lies in its wait.
  await endWorker('SIGTERM')
  // Slot 1 comes of the old wait; the wait before slot 2 and the end after it are the new schedule's.
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

test('with a schedule so short that a slot is beyond it, the attempt that was promised is still made', async () => {
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

test('another deadline and another cap count from the restart on', async () => {
  const broker = await openTestBroker()
  const slow = { DELIVERY_RETRY_WAITS: '300ms,300ms', SUBSCRIPTION_CONCURRENCY: '1' }
  receiver.answer('/hook', { instead: 'hang' })
  await startWorker({ ...slow, DELIVERY_TIMEOUT: '9s' })
  await broker.publishDelivery(await aDelivery('/hook'))
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1']), PATIENT)
  await endWorker('SIGKILL')
  // Nobody noted the attempt that was cut off, so it is made again.
  await startWorker({ ...slow, DELIVERY_TIMEOUT: '300ms', SUBSCRIPTION_CONCURRENCY: '3' })
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1', '1', '2', '3']), PATIENT)
})

test('with fewer shards or more, every delivery is made, wherever it lay', async () => {
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
