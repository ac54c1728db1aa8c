import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import {
  type Delivery,
  deliveryIdOf,
  type InstallationId,
  newEventId,
  newSubscriptionId,
  type Subscription,
} from '@switchhook/contracts'
import { type Broker, openBroker, Queue, serviceTopology } from '@switchhook/messaging'
import {
  createDeliveryArchive,
  createInstallationStore,
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
const PATIENT = { timeoutMs: 20_000 }

let rabbit: TestBroker
let redisServer: TestRedis
let redis: Redis
let receiver: Receiver
let worker: ServiceProcess | undefined
const brokers: Broker[] = []

beforeEach(async () => {
  ;[rabbit, redisServer, receiver] = await Promise.all([testBroker(), testRedis(), startReceiver()])
  redis = await openRedis({ url: redisServer.redisUrl, log: silentLog, name: 'test' })
})

afterEach(async () => {
  await worker?.kill()
  worker = undefined
  await Promise.all([...brokers.splice(0).map((broker) => broker.close()), redis.close(), receiver.close()])
  await Promise.all([rabbit.close(), redisServer.close()])
})

/** @param waits the retry schedule */
async function startWorker(waits: string): Promise<ServiceProcess> {
  worker = await startServiceProcess(join(import.meta.dirname, '../main.ts'), {
    AMQP_URL: rabbit.amqpUrl,
    REDIS_URL: redisServer.redisUrl,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    BREAKER_FAILURES: '1000',
    DELIVERY_RETRY_WAITS: waits,
  })
  return worker
}

async function publisherOf(installation?: InstallationId): Promise<Broker> {
  const broker = await openBroker({
    url: rabbit.amqpUrl,
    topology: serviceTopology([]),
    log: silentLog,
    name: 'test',
    ...(installation !== undefined && { installation: () => installation }),
  })
  brokers.push(broker)
  return broker
}

const idInRedis = async (): Promise<InstallationId> => {
  const stored = await createInstallationStore(redis).read()
  if (stored === undefined) throw new Error('Redis holds no installation')
  return stored.id
}

async function subscribe(): Promise<Subscription> {
  return await createSubscriptionStore(redis).create({
    id: newSubscriptionId(),
    tenant: 'acme',
    url: receiver.url('/hook'),
    eventTypes: ['call.status'],
    description: null,
    enabled: true,
    createdAt: new Date().toISOString(),
  })
}

function deliveryTo({ id, url }: Subscription): Delivery {
  const eventId = newEventId()
  return {
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
}

const attempts = (): unknown[] => receiver.requests('/hook').map(({ headers }) => headers['x-svc-attempt'])
const waitingIn = async (queue: string): Promise<number> => (await rabbit.management.queue(queue)).messages
const isReady = async (service: ServiceProcess): Promise<boolean> =>
  (await fetch(`http://127.0.0.1:${service.healthPort}/readyz`)).ok
const saysPaused = (service: ServiceProcess): void =>
  expect(service.lines().map(({ message }) => message)).toContain('consuming paused')

test.each(['with the id', 'without an id'])(
  'first attempts %s are not withdrawn in a Redis that lost its data; after a restore all are delivered',
  async (what) => {
    const service = await startWorker('1s')
    const broker = await publisherOf(what === 'with the id' ? await idInRedis() : undefined)
    const subscription = await subscribe()
    await redisServer.lose()
    for (let n = 0; n < 10; n++) await broker.publishDelivery(deliveryTo(subscription))
    await eventually(() => saysPaused(service))
    await eventually(async () => expect(await waitingIn(Queue.deliveryDue)).toBe(10), PATIENT)
    expect(await isReady(service)).toBe(false)
    expect(attempts()).toEqual([])
    expect(service.lines().filter(({ level }) => level === 'error')).toHaveLength(1)
    await redisServer.restore()
    await eventually(() => expect(attempts()).toHaveLength(10), PATIENT)
    await eventually(async () => expect(await isReady(service)).toBe(true), PATIENT)
  },
)

test('a retry that falls due while the data is lost waits for the restore', async () => {
  receiver.answer('/hook', { status: 503 })
  const service = await startWorker('5s')
  await (await publisherOf(await idInRedis())).publishDelivery(deliveryTo(await subscribe()))
  await eventually(() => expect(attempts()).toEqual(['1']))
  receiver.answer('/hook', { status: 204 })
  await redisServer.lose()
  await eventually(() => saysPaused(service))
  expect(attempts()).toEqual(['1'])
  await redisServer.restore()
  await eventually(() => expect(attempts()).toEqual(['1', '2']), PATIENT)
})

test('a delivery that is to be parked while the data is lost is parked in the restored Redis, after one POST', async () => {
  receiver.answer('/hook', { status: 410, delayMs: 4_000 })
  const service = await startWorker('1h')
  const delivery = deliveryTo(await subscribe())
  await (await publisherOf(await idInRedis())).publishDelivery(delivery)
  await eventually(() => expect(attempts()).toEqual(['1']))
  await redisServer.lose()
  await eventually(() => saysPaused(service))
  await redisServer.restore()
  const archive = createDeliveryArchive(redis)
  await eventually(
    async () => expect(await archive.find(delivery.deliveryId)).toMatchObject({ state: 'parked' }),
    PATIENT,
  )
  await eventually(async () => expect(await waitingIn(Queue.deliveryDue)).toBe(0), PATIENT)
  expect(attempts()).toEqual(['1'])
})

test('a delivery of another installation waits until an operator adopts its id; one without an id is delivered', async () => {
  const service = await startWorker('1s')
  const other = randomUUID() as InstallationId
  const subscription = await subscribe()
  await (await publisherOf()).publishDelivery(deliveryTo(subscription))
  await eventually(() => expect(attempts()).toHaveLength(1))
  await (await publisherOf(other)).publishDelivery(deliveryTo(subscription))
  await eventually(() => saysPaused(service))
  const errors = service.lines().filter(({ level }) => level === 'error')
  expect(errors).toMatchObject([{ message: expect.stringContaining(other), redis: await idInRedis() }])
  expect(attempts()).toHaveLength(1)
  await createInstallationStore(redis).decide(other, 'adopted')
  await eventually(() => expect(attempts()).toHaveLength(2), PATIENT)
})

test('a retry carries the id of the installation that publishes it, even if the first attempt carried none', async () => {
  receiver.answer('/hook', { status: 503 })
  await startWorker('1h')
  const ids: unknown[] = []
  const broker = await publisherOf()
  await broker.publishDelivery(deliveryTo(await subscribe()))
  await broker.consume({
    queue: 'delivery.wait.3600000',
    parse: ({ headers }) => headers['sh-installation'],
    handle: async (id) => void ids.push(id),
    concurrency: 1,
    recovered: () => Promise.resolve(),
  })
  const installation = await idInRedis()
  await eventually(() => expect(ids).toEqual([installation]))
})
