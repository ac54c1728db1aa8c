import { join } from 'node:path'
import { deliveryIdOf, newEventId, type PlatformEvent, type Subscription, serialiseEvent } from '@switchhook/contracts'
import {
  BACKLOGS,
  type Broker,
  backlogQueue,
  backlogQueues,
  DELIVERY_EXCHANGE,
  type IncomingMessage,
  openBroker,
  openDeliveryPacket,
  Queue,
  serviceTopology,
} from '@switchhook/messaging'
import { createSubscriptionStore, openRedis, type Redis } from '@switchhook/store'
import {
  aSubscription,
  eventually,
  type ServiceProcess,
  startServiceProcess,
  type TestBroker,
  type TestRedis,
  testBroker,
  testRedis,
  unverified,
} from '@switchhook/testkit'

const quiet = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
const PATIENT = { timeoutMs: 90_000 }

/** A backlog whose packets go to the queue of packets of the api. */
const OF_API = 99

let rabbit: TestBroker
let redisServer: TestRedis
let redis: Redis
let broker: Broker
const services: ServiceProcess[] = []

beforeEach(async () => {
  ;[rabbit, redisServer] = await Promise.all([testBroker(), testRedis()])
  redis = await openRedis({ url: redisServer.redisUrl, log: quiet, name: 'test' })
  const topology = serviceTopology([], { others: backlogQueues })
  const bindings = [
    ...topology.bindings,
    { from: DELIVERY_EXCHANGE, key: backlogQueue(OF_API), to: Queue.eventPackets },
  ]
  broker = await openBroker({ url: rabbit.amqpUrl, topology: { ...topology, bindings }, log: quiet, name: 'test' })
})

afterEach(async () => {
  for (const service of services.splice(0)) await service.kill()
  await Promise.all([broker.close(), redis.close()])
  await Promise.all([rabbit.close(), redisServer.close()])
})

async function startFanout(): Promise<ServiceProcess> {
  const env = { AMQP_URL: rabbit.amqpUrl, REDIS_URL: redisServer.redisUrl }
  const service = await startServiceProcess(join(import.meta.dirname, '..', 'main.ts'), env)
  services.push(service)
  return service
}

const subscribe = (tenant: string): Promise<Subscription> =>
  createSubscriptionStore(redis, unverified, {}).create(aSubscription({ tenant }))

const eventOf = (tenant: string): PlatformEvent => ({
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T08:30:00.000Z',
  tenant,
  data: { state: 3 },
})

interface Collected {
  /** Delivery ids by queue, in the order of their arrival. */
  readonly due: string[]
  readonly yielding: string[]
  /** Those of `yielding` that came in packets. */
  readonly packed: string[]
}

const QUEUE_OF = {
  due: Queue.deliveryDue,
  packets: Queue.deliveryPackets,
  yielding: Queue.yielding,
  yieldingPackets: Queue.yieldingPackets,
}
const TAKEN = ['due', 'packets', 'yielding', 'yieldingPackets'] as const

/** Takes deliveries as workers do. */
async function collectDeliveries(): Promise<Collected> {
  const collected: Collected = { due: [], yielding: [], packed: [] }
  for (const taken of TAKEN) {
    await broker.consume({
      queue: QUEUE_OF[taken],
      parse: (message: IncomingMessage) =>
        taken === 'packets' || taken === 'yieldingPackets'
          ? openDeliveryPacket(message).members.map(({ headers }) => String(headers['sh-delivery-id']))
          : [message.messageId ?? ''],
      handle: async (ids) => {
        collected[taken === 'due' || taken === 'packets' ? 'due' : 'yielding'].push(...ids)
        if (taken === 'yieldingPackets') collected.packed.push(...ids)
      },
      concurrency: 50,
      recovered: () => Promise.resolve(),
    })
  }
  return collected
}

async function publishBurst(events: readonly PlatformEvent[]): Promise<void> {
  await Promise.all(events.map((event) => broker.publishEvent(event)))
}

/** The ids of all deliveries of `events`. */
const deliveryIds = (events: readonly PlatformEvent[], subscriptions: readonly Subscription[]): Set<string> =>
  new Set(events.flatMap(({ eventId }) => subscriptions.map(({ id }) => deliveryIdOf(eventId, id))))

/** Several times the events that fan-out handles at the same time. In order, the event behind them would be delivered last. */
const BURST = 400
const SUBSCRIPTIONS = 8

async function subscribeAll(): Promise<{ burst: readonly Subscription[]; small: Subscription }> {
  const burst = await Promise.all(Array.from({ length: SUBSCRIPTIONS }, () => subscribe('burst')))
  return { burst, small: await subscribe('small') }
}

test('an event behind a burst of another tenant is delivered while the burst is queued', async () => {
  const { burst, small } = await subscribeAll()
  const events = Array.from({ length: BURST }, () => eventOf('burst'))
  const late = eventOf('small')
  await publishBurst([...events, late])
  const collected = await collectDeliveries()
  await startFanout()
  const lateId = deliveryIdOf(late.eventId, small.id)
  await eventually(() => expect(collected.due.includes(lateId)).toBe(true), PATIENT)
  const before = collected.due.indexOf(lateId) + collected.yielding.length
  expect(before).toBeLessThan((BURST * SUBSCRIPTIONS) / 2)
  const all = deliveryIds(events, burst).add(lateId)
  await eventually(() => expect(new Set([...collected.due, ...collected.yielding]).size).toBe(all.size), PATIENT)
  expect(new Set([...collected.due, ...collected.yielding])).toEqual(all)
  expect(collected.yielding.length).toBeGreaterThan(collected.due.length)
  expect(collected.packed.length).toBeGreaterThan(collected.yielding.length / 2)
})

test.each<[string, (service: ServiceProcess) => Promise<unknown>]>([
  ['killed', (service) => service.kill()],
  ['stopped', async (service) => expect(await service.stop()).toBe(0)],
])('a fan-out that is %s during a burst loses no event', async (_how, end) => {
  const { burst } = await subscribeAll()
  const events = Array.from({ length: BURST }, () => eventOf('burst'))
  const collected = await collectDeliveries()
  const first = await startFanout()
  await publishBurst(events)
  await eventually(() => expect(collected.yielding.length).toBeGreaterThan(100), PATIENT)
  await end(first)
  await startFanout()
  const all = deliveryIds(events, burst)
  await eventually(() => expect(new Set([...collected.due, ...collected.yielding]).size).toBe(all.size), PATIENT)
})

test.each([
  ['a backlog', 3],
  ['the queue of packets of the api', OF_API],
])(
  'an event of a packet in %s that cannot be parsed goes to quarantine alone; the others are delivered',
  async (_name, n) => {
    const { burst } = await subscribeAll()
    const events = Array.from({ length: 99 }, () => eventOf('burst'))
    const singles = events.map((event) => ({ content: serialiseEvent(event), eventType: 'call.status' }))
    const collected = await collectDeliveries()
    await broker.publishEventPacket([{ content: Buffer.from('{'), eventType: 'call.status' }, ...singles], n)
    await startFanout()
    const all = deliveryIds(events, burst)
    await eventually(() => expect(new Set([...collected.due, ...collected.yielding]).size).toBe(all.size), PATIENT)
    expect(new Set([...collected.due, ...collected.yielding])).toEqual(all)
    await eventually(async () => expect((await rabbit.management.queue(Queue.quarantine)).messages).toBe(1), PATIENT)
  },
)

test('first attempts of one event share a message', async () => {
  const small = await Promise.all(Array.from({ length: 10 }, () => subscribe('small')))
  const packets: string[][] = []
  await broker.consume({
    queue: Queue.deliveryPackets,
    parse: (message: IncomingMessage) => openDeliveryPacket(message).members,
    handle: async (members) => void packets.push(members.map(({ headers }) => String(headers['sh-delivery-id']))),
    concurrency: 10,
    recovered: () => Promise.resolve(),
  })
  await startFanout()
  const event = eventOf('small')
  await broker.publishEvent(event)
  await eventually(() => expect(packets.map((ids) => new Set(ids))).toEqual([deliveryIds([event], small)]), PATIENT)
})

test('the events of a packet of the api are delivered like events that came alone, and none is yielding', async () => {
  const subscription = await subscribe('small')
  const topology = serviceTopology([], { others: backlogQueues })
  const other = await openBroker({
    url: rabbit.amqpUrl,
    topology: {
      ...topology,
      bindings: [
        { from: DELIVERY_EXCHANGE, key: backlogQueue(BACKLOGS), to: Queue.eventPackets },
        ...topology.bindings,
      ],
    },
    log: quiet,
    name: 'test',
  })
  const events = Array.from({ length: 20 }, () => eventOf('small'))
  const singles = events.map((event) => ({ content: serialiseEvent(event), eventType: event.eventType }))
  const collected = await collectDeliveries()
  await startFanout()
  await other.publishEventPacket(singles, BACKLOGS)
  await eventually(() => expect(new Set(collected.due)).toEqual(deliveryIds(events, [subscription])), PATIENT)
  expect(collected.yielding).toEqual([])
  await other.close()
})
