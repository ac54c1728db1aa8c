import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type InstallationId, newEventId, type PlatformEvent, type Subscription } from '@switchhook/contracts'
import { type Broker, type IncomingMessage, openBroker, Queue, serviceTopology } from '@switchhook/messaging'
import { takeDeliveries } from '@switchhook/servicekit'
import { createInstallationStore, createSubscriptionStore, openRedis, type Redis } from '@switchhook/store'
import {
  aSubscription,
  eventually,
  inherited,
  type LoggedLine,
  type ServiceProcess,
  silentLog,
  startServiceProcess,
  type TestBroker,
  type TestRedis,
  testBroker,
  testRedis,
  unverified,
} from '@switchhook/testkit'

const PATIENT = { timeoutMs: 20_000 }

let rabbit: TestBroker
let redisServer: TestRedis
let redis: Redis
const brokers: Broker[] = []
const services: ServiceProcess[] = []

beforeEach(async () => {
  ;[rabbit, redisServer] = await Promise.all([testBroker(), testRedis()])
  redis = await openRedis({ url: redisServer.redisUrl, log: silentLog, name: 'test' })
})

afterEach(async () => {
  for (const service of services.splice(0)) await service.kill()
  await Promise.all([...brokers.splice(0).map((broker) => broker.close()), redis.close()])
  await Promise.all([rabbit.close(), redisServer.close()])
})

/** Publishes as a service of this installation does; without an id, as an outside platform does. */
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

async function startFanout(): Promise<ServiceProcess> {
  const env = { AMQP_URL: rabbit.amqpUrl, REDIS_URL: redisServer.redisUrl }
  const service = await startServiceProcess(join(import.meta.dirname, 'main.ts'), env)
  services.push(service)
  return service
}

const idInRedis = async (): Promise<InstallationId> => {
  const stored = await createInstallationStore(redis).read()
  if (stored === undefined) throw new Error('Redis holds no installation')
  return stored.id
}

const subscribe = (): Promise<Subscription> => createSubscriptionStore(redis, unverified, {}).create(aSubscription())

const anEvent = (): PlatformEvent => ({
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T08:30:00.000Z',
  tenant: 'acme',
  data: { state: 3 },
})

async function collectDeliveries(): Promise<readonly IncomingMessage[]> {
  const deliveries: IncomingMessage[] = []
  const broker = await publisherOf()
  await takeDeliveries(broker, (_delivery, message) => void deliveries.push(message))
  return deliveries
}

const waitingIn = async (queue: string): Promise<number> => (await rabbit.management.queue(queue)).messages
const readiness = async ({ healthPort }: ServiceProcess): Promise<unknown> => {
  const response = await fetch(`http://127.0.0.1:${healthPort}/readyz`)
  return { status: response.status, ...((await response.json()) as { checks: object }).checks }
}
/** Runs the operator's command. Resolves to the lines that it prints. */
async function command(...args: readonly string[]): Promise<unknown[]> {
  const script = join(import.meta.dirname, 'installation.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=source', script, ...args], {
    env: { ...inherited(), AMQP_URL: rabbit.amqpUrl, REDIS_URL: redisServer.redisUrl },
  })
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}

const foreign = (messageFrom: string, redis: string) => ({
  message: `a message belongs to installation ${messageFrom}, Redis holds ${redis}`,
  messageFrom,
  redis,
})

const errorsOf = (service: ServiceProcess): readonly LoggedLine[] =>
  service.lines().filter(({ level }) => level === 'error')

test('the first start on an empty Redis needs no operator; when it loses its data, no event is drained before the restore', async () => {
  const deliveries = await collectDeliveries()
  const service = await startFanout()
  const installation = await idInRedis()
  await subscribe()
  const [own, outside] = [await publisherOf(installation), await publisherOf()]
  await outside.publishEvent(anEvent())
  await eventually(() => expect(deliveries).toHaveLength(1))
  expect(deliveries[0]?.headers['sh-installation']).toBe(installation)
  expect(await readiness(service)).toMatchObject({ status: 200, redis: true, rabbitmq: true, installation: true })
  expect(errorsOf(service)).toEqual([])

  await redisServer.lose()
  for (let n = 0; n < 10; n++) await (n % 2 === 0 ? own : outside).publishEvent(anEvent())
  await eventually(async () => expect(await readiness(service)).toMatchObject({ status: 503, installation: false }))
  await eventually(() => expect(service.lines().map(({ message }) => message)).toContain('consuming paused'))
  await eventually(async () => expect(await waitingIn(Queue.fanoutEvents)).toBe(10), PATIENT)
  expect(errorsOf(service)).toMatchObject([{ redis: null, process: installation }])
  await redisServer.restore()
  await eventually(() => expect(deliveries).toHaveLength(11), PATIENT)
  await eventually(async () => expect(await readiness(service)).toMatchObject({ status: 200, installation: true }))
})

test('started on an emptied Redis, it pauses at the queued events of the lost installation and names both ids', async () => {
  const deliveries = await collectDeliveries()
  const before = await startFanout()
  const lost = await idInRedis()
  await subscribe()
  await before.kill()
  const publisher = await publisherOf(lost)
  for (let n = 0; n < 5; n++) await publisher.publishEvent(anEvent())
  await redisServer.lose()
  const service = await startFanout()
  await eventually(() => expect(errorsOf(service)).toHaveLength(1))
  expect(errorsOf(service)).toMatchObject([foreign(lost, await idInRedis())])
  expect(await readiness(service)).toMatchObject({ status: 503, installation: false })
  await eventually(async () => expect(await waitingIn(Queue.fanoutEvents)).toBe(5), PATIENT)
  await redisServer.restore()
  await eventually(() => expect(deliveries).toHaveLength(5), PATIENT)
  for (const { headers } of deliveries) expect(headers['sh-installation']).toBe(lost)
})

test('events of another installation wait until an operator adopts its id, or go to quarantine once it is discarded', async () => {
  const deliveries = await collectDeliveries()
  const service = await startFanout()
  await subscribe()
  const [adopted, discarded] = [randomUUID(), randomUUID()] as InstallationId[] as [InstallationId, InstallationId]
  await (await publisherOf(adopted)).publishEvent(anEvent())
  await eventually(async () => expect(await readiness(service)).toMatchObject({ installation: false }))
  const expected = [foreign(adopted, await idInRedis())]
  await eventually(() => expect(errorsOf(service)).toMatchObject(expected))
  expect(await command('adopt', adopted)).toEqual([{ adopted, redis: await idInRedis() }])
  await eventually(() => expect(deliveries).toHaveLength(1), PATIENT)
  expect(deliveries[0]?.headers['sh-installation']).toBe(await idInRedis())
  await eventually(async () => expect(await readiness(service)).toMatchObject({ status: 200 }))

  await (await publisherOf(discarded)).publishEvent(anEvent())
  await eventually(async () => expect(await readiness(service)).toMatchObject({ installation: false }))
  expect(await command('discard', discarded)).toEqual([{ discarded, redis: await idInRedis() }])
  await eventually(async () => expect(await waitingIn(Queue.quarantine)).toBe(1), PATIENT)
  await (await publisherOf()).publishEvent(anEvent())
  await eventually(() => expect(deliveries).toHaveLength(2), PATIENT)
  await eventually(async () => expect(await readiness(service)).toMatchObject({ status: 200 }))
})

test('the installation command shows the ids in Redis and in the queues, leaves every message where it is, and works while Redis is full', async () => {
  await expect(command('discard', randomUUID())).rejects.toMatchObject({
    code: 1,
    stderr: 'Redis holds no installation. Restore its data, or adopt an id first.\n',
  })
  const lost = randomUUID() as InstallationId
  const [own, outside] = [await publisherOf(lost), await publisherOf()]
  await own.publishEvent(anEvent())
  await outside.publishEvent(anEvent())
  const queue = { queue: Queue.fanoutEvents, messages: 2, looked: 2, installations: { [lost]: 1, none: 1 } }
  const nothing = { redis: null, createdAt: null, adopted: [], discarded: [] }
  expect(await command('show')).toEqual([nothing, queue])
  await redisServer.limitMemory(1)
  try {
    expect(await command('adopt', lost)).toEqual([{ adopted: lost, redis: lost }])
    expect(await command('show')).toEqual([{ ...nothing, redis: lost, createdAt: expect.any(String) }, queue])
  } finally {
    await redisServer.limitMemory(0)
  }
})
