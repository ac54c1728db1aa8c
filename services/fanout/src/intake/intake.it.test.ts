import { join } from 'node:path'
import {
  deliveryIdOf,
  firstDeliveriesOf,
  newEventId,
  type PlatformEvent,
  type Subscription,
  serialiseEvent,
} from '@switchhook/contracts'
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
} from '@switchhook/testkit'

const quiet = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
const PATIENT = { timeoutMs: 90_000 }

/** A backlog whose packs go to the queue of packs of the api. */
const OF_API = 99
/** A shard whose packets go where the broker moves them after a minute. */
const UNTAKEN = 99

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
    { from: DELIVERY_EXCHANGE, key: backlogQueue(OF_API), to: Queue.eventPacks },
    { from: DELIVERY_EXCHANGE, key: `${Queue.deliveryPackets}.${UNTAKEN}`, to: Queue.untakenPackets },
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
  createSubscriptionStore(redis).create(aSubscription({ tenant }))

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
  readonly backlog: string[]
  /** Those of `backlog` that came in packets. */
  readonly packed: string[]
}

type Taken = 'due' | 'backlog' | 'packets'

/** Takes deliveries as workers do. Those of earlier versions consume only the first of these queues. */
async function collectDeliveries(queues: readonly Taken[]): Promise<Collected> {
  const collected: Collected = { due: [], backlog: [], packed: [] }
  for (const taken of queues) {
    await broker.consume({
      queue: { due: Queue.deliveryDue, backlog: Queue.deliveryBacklog, packets: Queue.backlogPackets }[taken],
      parse: (message: IncomingMessage) =>
        taken === 'packets'
          ? openDeliveryPacket(message).members.map(({ headers }) => String(headers['sh-delivery-id']))
          : [message.messageId ?? ''],
      handle: async (ids) => {
        collected[taken === 'due' ? 'due' : 'backlog'].push(...ids)
        if (taken === 'packets') collected.packed.push(...ids)
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

test.each<[string, readonly Taken[]]>([
  ['workers', ['due', 'backlog', 'packets']],
  ['workers that take no packets', ['due', 'backlog']],
  ['workers that take no backlog', ['due']],
])(
  'with %s, an event behind a burst of another tenant is delivered while the burst is queued',
  async (_name, queues) => {
    const { burst, small } = await subscribeAll()
    const events = Array.from({ length: BURST }, () => eventOf('burst'))
    const late = eventOf('small')
    await publishBurst([...events, late])
    const collected = await collectDeliveries(queues)
    await startFanout()
    const lateId = deliveryIdOf(late.eventId, small.id)
    await eventually(() => expect(collected.due.includes(lateId)).toBe(true), PATIENT)
    const before = collected.due.indexOf(lateId) + collected.backlog.length
    expect(before).toBeLessThan((BURST * SUBSCRIPTIONS) / 2)
    const all = deliveryIds(events, burst).add(lateId)
    await eventually(() => expect(new Set([...collected.due, ...collected.backlog]).size).toBe(all.size), PATIENT)
    expect(new Set([...collected.due, ...collected.backlog])).toEqual(all)
    if (queues.includes('backlog')) expect(collected.backlog.length).toBeGreaterThan(collected.due.length)
    if (queues.includes('packets')) expect(collected.packed.length).toBeGreaterThan(collected.backlog.length / 2)
  },
)

test.each<[string, (service: ServiceProcess) => Promise<unknown>]>([
  ['killed', (service) => service.kill()],
  ['stopped', async (service) => expect(await service.stop()).toBe(0)],
])('a fan-out that is %s during a burst loses no event', async (_how, end) => {
  const { burst } = await subscribeAll()
  const events = Array.from({ length: BURST }, () => eventOf('burst'))
  const collected = await collectDeliveries(['due', 'backlog', 'packets'])
  const first = await startFanout()
  await publishBurst(events)
  await eventually(() => expect(collected.backlog.length).toBeGreaterThan(100), PATIENT)
  await end(first)
  await startFanout()
  const all = deliveryIds(events, burst)
  await eventually(() => expect(new Set([...collected.due, ...collected.backlog]).size).toBe(all.size), PATIENT)
})

test.each([
  ['a backlog', 3],
  ['the queue of packs of the api', OF_API],
])(
  'an event of a pack in %s that cannot be parsed goes to quarantine alone; the others are delivered',
  async (_name, n) => {
    const { burst } = await subscribeAll()
    const events = Array.from({ length: 99 }, () => eventOf('burst'))
    const singles = events.map((event) => ({ content: serialiseEvent(event), eventType: 'call.status' }))
    const collected = await collectDeliveries(['due', 'backlog'])
    await broker.publishPack([{ content: Buffer.from('{'), eventType: 'call.status' }, ...singles], n)
    await startFanout()
    const all = deliveryIds(events, burst)
    await eventually(() => expect(new Set([...collected.due, ...collected.backlog]).size).toBe(all.size), PATIENT)
    expect(new Set([...collected.due, ...collected.backlog])).toEqual(all)
    await eventually(async () => expect((await rabbit.management.queue(Queue.quarantine)).messages).toBe(1), PATIENT)
  },
)

test('while workers consume packets, first attempts share messages; once they do not, each is a message', async () => {
  const small = await Promise.all(Array.from({ length: 10 }, () => subscribe('small')))
  const packets: string[][] = []
  const worker = await broker.consume({
    queue: Queue.deliveryPackets,
    parse: (message: IncomingMessage) => openDeliveryPacket(message).members,
    handle: async (members) => void packets.push(members.map(({ headers }) => String(headers['sh-delivery-id']))),
    concurrency: 10,
    recovered: () => Promise.resolve(),
  })
  await startFanout()
  const first = eventOf('small')
  await eventually(async () => {
    await broker.publishEvent(first)
    expect(packets.map((ids) => new Set(ids))).toContainEqual(deliveryIds([first], small))
  }, PATIENT)
  await worker.drain()
  const collected = await collectDeliveries(['due'])
  const later = eventOf('small')
  await eventually(async () => {
    await broker.publishEvent(later)
    expect(collected.due).toEqual(expect.arrayContaining([...deliveryIds([later], small)]))
  }, PATIENT)
})

test('packets that no worker takes are taken apart', async () => {
  const small = await subscribe('small')
  const deliveries = Array.from({ length: 3 }, () => eventOf('small')).map((event) =>
    firstDeliveriesOf(event, event.occurredAt, '{}')(small),
  )
  const collected = await collectDeliveries(['due'])
  await broker.publishPacket(deliveries, UNTAKEN)
  await startFanout()
  const ids = deliveries.map(({ deliveryId }) => deliveryId)
  await eventually(() => expect(collected.due.toSorted()).toEqual(ids.toSorted()), PATIENT)
})

test('packets that no worker has taken in time are sent again whole while workers take packets', async () => {
  const small = await subscribe('small')
  const deliveries = Array.from({ length: 3 }, () => eventOf('small')).map((event) =>
    firstDeliveriesOf(event, event.occurredAt, '{}')(small),
  )
  const packets: unknown[] = []
  const worker = await broker.consume({
    queue: Queue.deliveryPackets,
    parse: (message: IncomingMessage) => openDeliveryPacket(message).members,
    handle: async (members) => void packets.push(members.map(({ headers }) => headers['sh-delivery-id'])),
    concurrency: 10,
    recovered: () => Promise.resolve(),
  })
  await startFanout()
  // Fan-out does not look at the queues until it has something to send. So the first packet is taken apart.
  await eventually(async () => {
    await broker.publishPacket(deliveries, UNTAKEN)
    expect(packets).toContainEqual(deliveries.map(({ deliveryId }) => deliveryId))
  }, PATIENT)
  await worker.drain()
})

test('a packet that had given way, and that no worker has taken in time, still gives way', async () => {
  const small = await subscribe('small')
  const deliveries = Array.from({ length: 3 }, () => eventOf('small')).map((event) =>
    firstDeliveriesOf(event, event.occurredAt, '{}')(small),
  )
  const packets: IncomingMessage[] = []
  const consumed = (queue: string): ReturnType<Broker['consume']> =>
    broker.consume({
      queue,
      parse: (message: IncomingMessage) => message,
      handle: async (message) => void packets.push(message),
      concurrency: 10,
      recovered: () => Promise.resolve(),
    })
  const workers = await Promise.all([Queue.deliveryPackets, Queue.backlogPackets].map(consumed))
  await startFanout()
  await broker.publishBackloggedPacket(deliveries)
  await eventually(() => expect(packets).toHaveLength(1))
  const [first] = packets.splice(0)
  const again = {
    properties: { type: first?.type, headers: { 'x-first-death-queue': Queue.backlogPackets } },
    routing_key: `${Queue.deliveryPackets}.${UNTAKEN}`,
    payload: first?.content.toString('base64'),
    payload_encoding: 'base64',
  }
  // Fan-out does not look at the queues until it has something to send. So the first packet is taken apart.
  await eventually(async () => {
    await rabbit.management.call(
      'POST',
      `exchanges${new URL(rabbit.amqpUrl).pathname}/${DELIVERY_EXCHANGE}/publish`,
      again,
    )
    expect(packets.map(({ routingKey }) => routingKey)).toContain(Queue.backlogPackets)
  }, PATIENT)
  expect(new Set(packets.map(({ routingKey }) => routingKey))).toEqual(new Set([Queue.backlogPackets]))
  await Promise.all(workers.map((worker) => worker.drain()))
})

test('the events of a pack of the api are delivered like events that came alone, not as those of a backlog', async () => {
  const subscription = await subscribe('small')
  const topology = serviceTopology([], { others: backlogQueues })
  const other = await openBroker({
    url: rabbit.amqpUrl,
    topology: {
      ...topology,
      bindings: [{ from: DELIVERY_EXCHANGE, key: backlogQueue(BACKLOGS), to: Queue.eventPacks }, ...topology.bindings],
    },
    log: quiet,
    name: 'test',
  })
  const events = Array.from({ length: 20 }, () => eventOf('small'))
  const singles = events.map((event) => ({ content: serialiseEvent(event), eventType: event.eventType }))
  const collected = await collectDeliveries(['due', 'backlog'])
  await startFanout()
  await other.publishPack(singles, BACKLOGS)
  await eventually(() => expect(new Set(collected.due)).toEqual(deliveryIds(events, [subscription])), PATIENT)
  expect(collected.backlog).toEqual([])
  await other.close()
})
