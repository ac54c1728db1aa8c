import { join } from 'node:path'
import { type Delivery, deliveryIdOf, newEventId, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { openBroker, serviceTopology } from '@switchhook/messaging'
import { createDeliveryArchive, createSubscriptionStore, openRedis } from '@switchhook/store'
import { eventually, silentLog, startReceiver, startServiceProcess, testBroker, testRedis } from '@switchhook/testkit'

jest.setTimeout(90_000)
/** With one probe per cool-down of 1 s, the last slots of these would take 50 s. */
const DELIVERIES = 50

let stop: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const each of stop.toReversed()) await each()
  stop = []
})

const deliveryFor = (subscriptionId: SubscriptionId, url: string): Delivery => {
  const eventId = newEventId()
  return {
    deliveryId: deliveryIdOf(eventId, subscriptionId),
    subscriptionId,
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
}

test('a backlog for an endpoint that stays dead is parked within the limit of its last slot, and no message is left in a queue', async () => {
  const [rabbit, redisServer, receiver] = await Promise.all([testBroker(), testRedis(), startReceiver()])
  stop.push(() => Promise.all([rabbit.close(), redisServer.close(), receiver.close()]))
  const redis = await openRedis({ url: redisServer.redisUrl, log: silentLog, name: 'test' })
  stop.push(() => redis.close())
  const broker = await openBroker({
    url: rabbit.amqpUrl,
    topology: serviceTopology([]),
    log: silentLog,
    name: 'test',
  })
  stop.push(() => broker.close())
  receiver.answer('/dead', { status: 503 })
  const worker = await startServiceProcess(join(import.meta.dirname, '../main.ts'), {
    AMQP_URL: rabbit.amqpUrl,
    REDIS_URL: redisServer.redisUrl,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_WAITS: '100ms,1500ms',
    BREAKER_FAILURES: '1',
    BREAKER_COOLDOWN: '1s',
  })
  stop.push(() => worker.kill())
  const subscriptionId = newSubscriptionId()
  const url = receiver.url('/dead')
  await createSubscriptionStore(redis).create({
    id: subscriptionId,
    tenant: 'acme',
    url,
    eventTypes: ['call.status'],
    description: null,
    enabled: true,
    createdAt: new Date().toISOString(),
  })
  const deliveries = Array.from({ length: DELIVERIES }, () => deliveryFor(subscriptionId, url))
  await Promise.all(deliveries.map((delivery) => broker.publishDelivery(delivery)))

  const archive = createDeliveryArchive(redis)
  const records = await eventually(
    async () => {
      const found = await Promise.all(deliveries.map(({ deliveryId }) => archive.find(deliveryId)))
      expect(found.filter((record) => record?.state === 'parked')).toHaveLength(DELIVERIES)
      return found
    },
    { timeoutMs: 30_000, intervalMs: 200 },
  )
  for (const record of records) {
    expect(record).toMatchObject({ parkedReason: 'exhausted', nextAttemptAt: null, body: Buffer.from('{}') })
    expect(record?.attempts).toHaveLength(record?.attempt ?? -1)
  }
  const unattempted = records.find((record) => record?.attempt === 0)
  expect(unattempted).toBeDefined()
  // The worker logs the decision after it has stored the parked record and verified the installation.
  await eventually(() => {
    const lines = worker.lines().filter(({ deliveryId }) => deliveryId === unattempted?.deliveryId)
    expect(lines.find(({ decision }) => decision === 'park')).toMatchObject({
      level: 'info',
      attempt: null,
      outcome: 'cooling',
      status: null,
      decision: 'park',
      reason: 'exhausted',
    })
  })
  await eventually(async () => {
    const left = (await rabbit.management.queues()).filter(({ messages }) => messages > 0)
    expect(left.map(({ name }) => name)).toEqual([])
  })
})
