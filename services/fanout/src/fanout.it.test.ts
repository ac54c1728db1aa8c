import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  type PlatformEvent,
  type Subscription,
} from '@switchhook/contracts'
import { type Broker, openBroker, openQuarantine, serviceTopology } from '@switchhook/messaging'
import { takeDeliveries } from '@switchhook/servicekit'
import {
  createDeliveryLogReader,
  createEventList,
  createJournalReader,
  createSubscriptionStore,
  openRedis,
  type Redis,
  type SubscriptionStore,
} from '@switchhook/store'
import {
  aSubscription,
  eventually,
  forgetful,
  inherited,
  silentLog,
  startTcpProxy,
  type TcpProxy,
  type TestBroker,
  type TestRedis,
  testBroker,
  testRedis,
  unverified,
} from '@switchhook/testkit'

/** The service as deployed: a process of its own, configured by its environment only. */
interface Service {
  readonly process: ChildProcess
  lines(): readonly LogLine[]
  logged(message: string): number
  /** null: the process was killed. */
  readonly exitCode: Promise<number | null>
}

interface LogLine {
  readonly level: string
  readonly message: string
  readonly healthPort?: number
  readonly queue?: string
}

let rabbit: TestBroker
let redisServer: TestRedis
let amqp: TcpProxy
let redisProxy: TcpProxy
let broker: Broker
let redis: Redis
let subscriptions: SubscriptionStore
const services: Service[] = []
const publishers: Broker[] = []

beforeEach(async () => {
  ;[rabbit, redisServer] = await Promise.all([testBroker(), testRedis()])
  ;[amqp, redisProxy] = await Promise.all([startTcpProxy(rabbit.amqpUrl), startTcpProxy(redisServer.redisUrl)])
  broker = await openBroker({ url: rabbit.amqpUrl, topology: serviceTopology([]), log: silentLog, name: 'test' })
  redis = await openRedis({ url: redisServer.redisUrl, log: silentLog, name: 'test' })
  subscriptions = createSubscriptionStore(redis, unverified, {})
})

afterEach(async () => {
  for (const service of services.splice(0)) {
    service.process.kill('SIGKILL')
    await service.exitCode
  }
  await Promise.all(publishers.splice(0).map((publisher) => publisher.close()))
  await Promise.all([broker.close(), redis.close(), amqp.close(), redisProxy.close()])
  await Promise.all([rabbit.close(), redisServer.close()])
})

function run(script: string, args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, ['--conditions=source', join(import.meta.dirname, script), ...args], {
    env: {
      ...inherited(),
      AMQP_URL: amqp.url,
      REDIS_URL: redisProxy.url,
      HEALTH_PORT: '0',
      NODE_ENV: 'test',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function start(env: Readonly<Record<string, string>> = {}): Service {
  const child = run('main.ts', [], env)
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const lines = (): LogLine[] =>
    output
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogLine)
  const service: Service = {
    process: child,
    lines,
    logged: (message) => lines().filter((line) => line.message === message).length,
    exitCode: once(child, 'exit').then(([code]) => code as number | null),
  }
  services.push(service)
  return service
}

async function started(env?: Readonly<Record<string, string>>): Promise<Service> {
  const service = start(env)
  await eventually(() => expect(service.logged('started')).toBe(1))
  return service
}

async function subscribe(change: Partial<Subscription> = {}): Promise<Subscription> {
  return subscriptions.create(aSubscription({ url: `https://client.example/${newSubscriptionId()}`, ...change }))
}

const HOUR_MS = 3_600_000
const journal = () => createJournalReader(redis, { size: 20_000, retentionMs: HOUR_MS, deliveryRetentionMs: HOUR_MS })

const anEvent = (change: Partial<PlatformEvent> = {}): PlatformEvent => ({
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T08:30:00.000Z',
  tenant: 'acme',
  data: { state: 3 },
  ...change,
})

/** Consumes the workers' queues. Returns the list of received deliveries, which grows. */
async function collectDeliveries(shards?: readonly number[]): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = []
  await takeDeliveries(broker, (delivery) => void deliveries.push(delivery), shards)
  return deliveries
}

/** Handles events in order: the deliveries of the last event come after those of all earlier ones. */
const IN_ORDER = { FANOUT_CONCURRENCY: '1' }

const idsOf = (deliveries: readonly Delivery[]): string[] => deliveries.map(({ deliveryId }) => deliveryId).toSorted()

test('each enabled subscription of the event’s tenant to its type gets one delivery, and no other does', async () => {
  const wanted = [await subscribe(), await subscribe({ eventTypes: ['agent.status', 'call.status'] })]
  await subscribe({ enabled: false })
  await subscribe({ eventTypes: ['agent.status'] })
  await subscribe({ tenant: 'globex' })
  await subscribe({ tenant: null })
  const deliveries = await collectDeliveries()
  await started(IN_ORDER)
  const event = anEvent()
  await broker.publishEvent(event)
  const marker = await subscribe({ tenant: 'marker' })
  await broker.publishEvent(anEvent({ tenant: 'marker' }))
  await eventually(() => expect(deliveries.some(({ subscriptionId }) => subscriptionId === marker.id)).toBe(true))
  await eventually(() => expect(deliveries).toHaveLength(3))
  const ofEvent = deliveries.filter(({ eventId }) => eventId === event.eventId)
  expect(idsOf(ofEvent)).toEqual(wanted.map(({ id }) => deliveryIdOf(event.eventId, id) as string).toSorted())
  for (const delivery of ofEvent) {
    expect(delivery).toMatchObject({ tenant: 'acme', run: 1, slot: 0, attempt: 0, eventType: 'call.status' })
    expect(JSON.parse(delivery.body.toString())).toMatchObject({ deliveryId: delivery.deliveryId, data: { state: 3 } })
  }
})

test('the highest concurrency that can be configured is within what RabbitMQ sends to a consumer', async () => {
  await subscribe()
  const deliveries = await collectDeliveries()
  await started({ FANOUT_CONCURRENCY: '10000' })
  await broker.publishEvent(anEvent())
  await eventually(() => expect(deliveries).toHaveLength(1))
})

test('the same event twice gives the same deliveries, byte for byte', async () => {
  await subscribe()
  const deliveries = await collectDeliveries()
  await started()
  const event = anEvent({ data: { text: 'ä', n: 1.5 } })
  await broker.publishEvent(event)
  await broker.publishEvent(event)
  await eventually(() => expect(deliveries).toHaveLength(2))
  expect(deliveries[1]?.deliveryId).toBe(deliveries[0]?.deliveryId)
  expect(deliveries[1]?.body).toEqual(deliveries[0]?.body)
})

test('a changed, disabled or removed subscription affects the next event', async () => {
  const { id, tenant } = await subscribe()
  const deliveries = await collectDeliveries()
  await started(IN_ORDER)
  await broker.publishEvent(anEvent())
  await eventually(() => expect(deliveries).toHaveLength(1))
  await subscriptions.revise(tenant, id, (present) => ({ ...present, url: 'https://client.example/moved' }))
  await broker.publishEvent(anEvent())
  await eventually(() => expect(deliveries).toHaveLength(2))
  expect(deliveries[1]?.url).toBe('https://client.example/moved')
  await subscriptions.revise(tenant, id, (present) => ({ ...present, enabled: false }))
  await broker.publishEvent(anEvent())
  await subscriptions.remove(tenant, id)
  await broker.publishEvent(anEvent())
  const other = await subscribe()
  await broker.publishEvent(anEvent())
  await eventually(() => expect(deliveries.at(-1)?.subscriptionId).toBe(other.id))
  expect(deliveries.filter(({ subscriptionId }) => subscriptionId === id)).toHaveLength(2)
})

test('with several shards each subscription’s deliveries go to one of them, which fan-out declares', async () => {
  const subscribed = await Promise.all(Array.from({ length: 24 }, () => subscribe()))
  await started({ DELIVERY_SHARDS: '3' })
  const shards = await Promise.all([0, 1, 2].map((shard) => collectDeliveries([shard])))
  await broker.publishEvent(anEvent())
  await broker.publishEvent(anEvent())
  await eventually(() => expect(shards.flat()).toHaveLength(48))
  const perShard = shards.map((deliveries) => new Set(deliveries.map(({ subscriptionId }) => subscriptionId)))
  for (const { size } of perShard) expect(size).toBeGreaterThan(0)
  expect(perShard.reduce((sum, { size }) => sum + size, 0)).toBe(subscribed.length)
})

test('after a change to fewer or more shards of events, every event is fanned out, whichever queue it was in', async () => {
  await subscribe()
  const deliveries = await collectDeliveries()
  const publishToShards = async (eventShards: number): Promise<void> => {
    const topology = serviceTopology([], { eventShards })
    const publisher = await openBroker({ url: rabbit.amqpUrl, topology, log: silentLog, name: 'api' })
    publishers.push(publisher)
    await Promise.all(Array.from({ length: 24 }, () => publisher.publishEvent(anEvent())))
  }
  await publishToShards(4)
  const waiting = (await rabbit.management.queues()).filter(({ name }) => /^fanout\.events(\.\d+)?$/.test(name))
  expect(waiting).toHaveLength(4)
  await started({ EVENT_SHARDS: '2' })
  await eventually(() => expect(new Set(idsOf(deliveries)).size).toBe(24))
  await publishToShards(2)
  await eventually(() => expect(new Set(idsOf(deliveries)).size).toBe(48))
})

test('while Redis is down fan-out pauses; afterwards every delivery is made and the quarantine is empty', async () => {
  await subscribe()
  const deliveries = await collectDeliveries()
  const service = await started()
  redisProxy.refuse()
  const events = Array.from({ length: 100 }, () => anEvent())
  await Promise.all(events.map((event) => broker.publishEvent(event)))
  await eventually(() => expect(service.logged('consuming paused')).toBeGreaterThan(0))
  // A burst that Redis interrupts may have put events into a backlog: its queue pauses, too.
  const paused = service.lines().flatMap(({ message, queue }) => (message === 'consuming paused' ? [queue] : []))
  expect(new Set(paused).size).toBe(paused.length)
  expect(deliveries).toEqual([])
  redisProxy.accept()
  await eventually(() => expect(new Set(idsOf(deliveries)).size).toBe(100), { timeoutMs: 15_000 })
  // A line of the process can arrive after the deliveries.
  await eventually(() => expect(service.logged('consuming resumed')).toBeGreaterThan(0))
  const quarantine = await openQuarantine({ url: rabbit.amqpUrl, name: 'test' })
  expect(await quarantine.list(1)).toEqual([])
  await quarantine.close()
})

test('fanned-out events are in the delivery log, and a log that cannot be written delays no delivery', async () => {
  const [subscription, broken] = [await subscribe(), await subscribe()]
  const deliveries = await collectDeliveries()
  // Not the log's type: Redis refuses every write to it.
  await redisServer.set(`sh:{s:${broken.id}}:log`, 'nonsense')
  const service = await started()
  const event = anEvent({ data: { agentUri: 'sip:a@acme.example' } })
  await broker.publishEvent(event)
  await eventually(() => expect(deliveries).toHaveLength(2))
  const reader = createDeliveryLogReader(redis, journal())
  await eventually(async () => {
    const { items } = await reader.page(subscription, { limit: 10 })
    expect(items).toMatchObject([{ eventId: event.eventId, state: 'pending' }])
  })
  await eventually(async () => {
    const { items } = await createEventList(journal()).page('acme', { limit: 1, agentUri: 'sip:a@acme.example' })
    expect(items).toMatchObject([{ eventId: event.eventId, callId: null }])
  })
  const subscriptionIds = expect.arrayContaining([subscription.id, broken.id]) as string[]
  await eventually(async () =>
    expect(await journal().find('acme', event.eventId)).toMatchObject({
      eventType: 'call.status',
      subscriptionIds,
    }),
  )
  await Promise.all(Array.from({ length: 50 }, () => broker.publishEvent(anEvent())))
  await eventually(() => expect(deliveries).toHaveLength(102))
  const missing = 'delivery log entries were dropped; the deliveries themselves are not affected'
  await eventually(() => expect(service.logged(missing)).toBe(1))
  expect(service.logged('consuming paused')).toBe(0)
})

test('SIGTERM writes all of the delivery log; a log of size 0 stays empty', async () => {
  const subscription = await subscribe()
  const deliveries = await collectDeliveries()
  const logged = async (): Promise<number> =>
    (await createDeliveryLogReader(redis, journal()).page(subscription, { limit: 100 })).items.length
  const service = await started()
  await Promise.all(Array.from({ length: 50 }, () => broker.publishEvent(anEvent())))
  await eventually(() => expect(deliveries).toHaveLength(50), { intervalMs: 1 })
  service.process.kill('SIGTERM')
  expect(await service.exitCode).toBe(0)
  expect(await logged()).toBe(50)

  const silent = await started({ DELIVERY_LOG_SIZE: '0', EVENT_JOURNAL_SIZE: '0' })
  const event = anEvent()
  await broker.publishEvent(event)
  await eventually(() => expect(deliveries).toHaveLength(51))
  silent.process.kill('SIGTERM')
  expect(await silent.exitCode).toBe(0)
  expect(await logged()).toBe(50)
  const { items } = await createEventList(journal()).page('acme', { limit: 100 })
  expect(items.map(({ eventId }) => eventId)).not.toContain(event.eventId)
})

test('SIGTERM under load finishes and acknowledges the events in flight: no delivery is made twice', async () => {
  await subscribe()
  const deliveries = await collectDeliveries()
  const service = await started({ FANOUT_CONCURRENCY: '16' })
  const publishing = Promise.all(Array.from({ length: 500 }, () => broker.publishEvent(anEvent())))
  await eventually(() => expect(deliveries.length).toBeGreaterThan(50), { intervalMs: 1 })
  service.process.kill('SIGTERM')
  expect(await service.exitCode).toBe(0)
  expect(deliveries.length).toBeLessThan(500)
  await publishing
  await started()
  await eventually(() => expect(new Set(idsOf(deliveries)).size).toBe(500))
  expect(deliveries).toHaveLength(500)
})

test('fan-out waits for an unreachable Redis and broker, alive and not ready, and logs it', async () => {
  amqp.refuse()
  redisProxy.refuse()
  const port = await freePort()
  const service = start({ HEALTH_PORT: String(port) })
  const status = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status
  await eventually(() => expect(service.logged('waiting for Redis')).toBeGreaterThan(0))
  expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 503])
  redisProxy.accept()
  await eventually(() => expect(service.logged('waiting for RabbitMQ')).toBeGreaterThan(0))
  expect(await status('/readyz')).toBe(503)
  amqp.accept()
  await eventually(async () => expect(await status('/readyz')).toBe(200))
  redisProxy.refuse()
  await eventually(async () => expect(await status('/readyz')).toBe(503))
})

test('in production it refuses a Redis without persistence', async () => {
  redisProxy.alter(forgetful)
  const child = run('main.ts', [], { NODE_ENV: 'production', AMQP_URL: 'amqp://user:secret@127.0.0.1:1' })
  const [errors, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'exit')])
  expect(code).toBe(1)
  expect(errors).toContain('this Redis would lose data: it must keep an append-only file')
})

describe('the quarantine command', () => {
  async function command(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const child = run('quarantine.ts', args, env)
    const [out, errors, [code]] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, 'exit'),
    ])
    return { out, errors, code: code as number }
  }

  test('lists messages that could not be parsed, and requeues them', async () => {
    const service = await started()
    // An event type that this version does not know.
    await broker.publishEvent({ ...anEvent(), eventType: 'call.dreamt' as 'call.status' })
    await eventually(() => expect(service.logged('message put into quarantine')).toBe(1))
    const { out, code } = await command(['list'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      from: 'fanout.events',
      type: 'call.dreamt',
      reason: expect.stringContaining('/eventType') as string,
    })
    await eventually(async () => expect((await command(['requeue'])).out).toBe('{"requeued":1,"kept":0}\n'))
    await eventually(() => expect(service.logged('message put into quarantine')).toBe(2))
    expect(service.logged('consuming paused')).toBe(0)
  })

  test('lists an event that is nested too deeply, which was received once', async () => {
    const service = await started()
    const deep = JSON.parse('['.repeat(1_000) + ']'.repeat(1_000)) as unknown
    await broker.publishEvent({ ...anEvent(), data: { deep } })
    await eventually(() => expect(service.logged('message put into quarantine')).toBe(1))
    expect(service.lines().filter(({ level }) => level !== 'info')).toHaveLength(1)
    const { out } = await command(['list'])
    expect(JSON.parse(out)).toMatchObject({ from: 'fanout.events', reason: 'nested deeper than 500 levels' })
  })

  test('prints what it cannot reach', async () => {
    expect(await command(['list'], { AMQP_URL: 'amqp://user:secret@127.0.0.1:1' })).toEqual({
      code: 1,
      out: '',
      errors: 'RabbitMQ cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n',
    })
  })
})

async function freePort(): Promise<number> {
  const proxy = await startTcpProxy('redis://127.0.0.1')
  await proxy.close()
  return proxy.port
}
