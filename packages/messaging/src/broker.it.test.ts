import { randomUUID } from 'node:crypto'
import { parseDelivery, parseEvent, Unavailable, Unparsable } from '@switchhook/contracts'
import { MIN_FRAME_BYTES } from '@switchhook/runtime'
import {
  eventually,
  openQueueObserver,
  type RecordingLog,
  recordingLog,
  stall,
  startTcpProxy,
  type TcpProxy,
  type TestBroker,
  testBroker,
} from '@switchhook/testkit'
import { connect } from 'amqplib'
import { type Broker, type BrokerOptions, openBroker } from './broker.ts'
import { openLink } from './link/link.ts'
import type { IncomingMessage } from './message/message.ts'
import { publishEvents, sampleDelivery, sampleEvent } from './testing/samples.ts'
import { countShards } from './topology/count-shards.ts'
import {
  DELIVERY_EXCHANGE,
  dueQueues,
  eventQueues,
  Queue,
  serviceTopology,
  type Topology,
  waitQueues,
} from './topology/topology.ts'

let server: TestBroker
let proxy: TcpProxy
let log: RecordingLog
const opened: Broker[] = []

beforeEach(async () => {
  server = await testBroker()
  proxy = await startTcpProxy(server.amqpUrl)
  log = recordingLog()
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((broker) => broker.close()))
  await proxy.close()
  await server.close()
})

async function open(options: Partial<BrokerOptions> = {}): Promise<Broker> {
  const broker = await openBroker({ url: proxy.url, topology: serviceTopology([200]), log, name: 'test', ...options })
  opened.push(broker)
  return broker
}

/** Consumes until the broker is closed. Returns the list of received messages, which grows. */
async function collect(broker: Broker, queue: string): Promise<readonly IncomingMessage[]> {
  const messages: IncomingMessage[] = []
  await broker.consume({
    queue,
    parse: (message) => message,
    handle: async (message) => void messages.push(message),
    concurrency: 100,
    recovered: () => Promise.resolve(),
  })
  return messages
}

/** Publishes one after the other, because a quorum queue notices a little late that it is full. */
async function oneByOne<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<readonly string[]> {
  const results: string[] = []
  for (const item of items) results.push((await Promise.allSettled([work(item)]))[0].status)
  return results
}

const first = (messages: readonly IncomingMessage[]): Promise<IncomingMessage> =>
  eventually(() => {
    const [message] = messages
    if (message === undefined) throw new Error('no message arrived')
    return message
  })

describe('publishing', () => {
  test('an event reaches fan-out’s queue with its type as routing key, and with its id', async () => {
    const broker = await open()
    const events = await collect(broker, Queue.fanoutEvents)
    const event = sampleEvent()
    await broker.publishEvent(event)
    const { content, exchange, routingKey, messageId, type } = await first(events)
    expect(parseEvent(content)).toEqual(event)
    expect({ exchange, routingKey, messageId, type }).toEqual({
      exchange: 'switchhook.fanout',
      routingKey: 'call.status',
      messageId: event.eventId,
      type: 'call.status',
    })
  })

  test('a message that no queue accepts rejects, although the broker confirms it', async () => {
    const broker = await open()
    await expect(broker.publishRetry(sampleDelivery(), 12_345)).rejects.toThrow(
      new Unavailable('rabbitmq', 'no queue accepts delivery.wait.12345 on switchhook.delivery'),
    )
  })

  test('a message that a full queue refuses rejects', async () => {
    const { queues, ...rest } = serviceTopology([])
    const one: Topology = {
      ...rest,
      queues: { ...queues, [Queue.deliveryDue]: { ...queues[Queue.deliveryDue], 'x-max-length': 1 } },
    }
    const broker = await open({ topology: one })
    // A quorum queue notices a little late that it is full, so it accepts more than one.
    const publishTillRefused = async (): Promise<void> => {
      for (let n = 0; n < 100; n++) await broker.publishDelivery(sampleDelivery())
    }
    await expect(publishTillRefused()).rejects.toMatchObject({
      name: 'Unavailable',
      cause: { message: 'message nacked' },
    })
    expect(broker.isReady()).toBe(true)
  })

  test('messages that a full queue refused all arrive when they are published again', async () => {
    const { queues, ...rest } = serviceTopology([])
    const few = { ...queues, [Queue.deliveryDue]: { ...queues[Queue.deliveryDue], 'x-max-length': 10 } }
    const broker = await open({ topology: { ...rest, queues: few } })
    const deliveries = Array.from({ length: 200 }, () => sampleDelivery())
    const attempts = await oneByOne(deliveries, (delivery) => broker.publishDelivery(delivery))
    const refused = deliveries.filter((_delivery, n) => attempts[n] === 'rejected')
    expect(refused.length).toBeGreaterThan(100)
    const messages = await collect(broker, Queue.deliveryDue)
    await Promise.all(refused.map((delivery) => eventually(() => broker.publishDelivery(delivery))))
    const idsOf = (all: readonly { readonly messageId?: unknown }[]) => new Set(all.map(({ messageId }) => messageId))
    const sent = new Set<unknown>(deliveries.map(({ deliveryId }) => deliveryId))
    await eventually(() => expect(idsOf(messages)).toEqual(sent))
    // A refused message was not stored, so there are no duplicates.
    expect(messages).toHaveLength(200)
  })

  test('each of many concurrent publishes gets its own result, even with one message id', async () => {
    const broker = await open()
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, n) => {
        const delivery = sampleDelivery()
        return Promise.allSettled([
          broker.publishDelivery(delivery),
          n % 10 === 0 ? broker.publishRetry(delivery, 1) : broker.publishDelivery(delivery),
          broker.publishDelivery(delivery),
        ])
      }),
    )
    const statuses = results.map((result) =>
      result.status === 'fulfilled' ? result.value.map(({ status }) => status) : [],
    )
    statuses.forEach((status, n) =>
      expect(status).toEqual(['fulfilled', n % 10 === 0 ? 'rejected' : 'fulfilled', 'fulfilled']),
    )
    const messages = await collect(broker, Queue.deliveryDue)
    await eventually(() => expect(messages).toHaveLength(580))
  })

  test('a publish without a confirm rejects after the time limit', async () => {
    const broker = await open({ confirmTimeoutMs: 100 })
    proxy.freeze()
    await expect(broker.publishEvent(sampleEvent())).rejects.toThrow('no confirm within 100 ms')
    proxy.thaw()
  })

  test('a publish that was confirmed in time has succeeded, although the process stalled', async () => {
    const broker = await open({ url: server.amqpUrl, confirmTimeoutMs: 200 })
    const published = [broker.publishEvent(sampleEvent()), broker.publishDelivery(sampleDelivery())]
    await new Promise(setImmediate)
    stall(900)
    await Promise.all(published)
  })

  test('a lost connection rejects the publishes in progress, and later ones immediately', async () => {
    const broker = await open()
    proxy.freeze()
    const underWay = Promise.allSettled([broker.publishEvent(sampleEvent())])
    proxy.refuse()
    expect(await underWay).toMatchObject([{ status: 'rejected', reason: { name: 'Unavailable' } }])
    expect(broker.isReady()).toBe(false)
    await expect(broker.publishEvent(sampleEvent())).rejects.toThrow('not connected to RabbitMQ')
  })

  test('a channel that the broker closes is replaced', async () => {
    const { queues, bindings } = serviceTopology([])
    const withoutEvents: Topology = {
      queues,
      exchanges: { 'switchhook.delivery': 'direct' },
      bindings: bindings.filter(({ from }) => from === 'switchhook.delivery'),
    }
    const broker = await open({ topology: withoutEvents })
    await expect(broker.publishEvent(sampleEvent())).rejects.toThrow(Unavailable)
    await eventually(() => broker.publishDelivery(sampleDelivery()))
    expect(log.count('closing a failed RabbitMQ connection')).toBe(1)
  })
})

describe('wait queues', () => {
  test('a retry returns from its wait queue with the same bytes and its own headers', async () => {
    const broker = await open()
    const messages = await collect(broker, Queue.deliveryDue)
    const delivery = sampleDelivery({ slot: 1, attempt: 1 })
    const sentAt = performance.now()
    await broker.publishRetry(delivery, 200)
    const message = await first(messages)
    expect(performance.now() - sentAt).toBeGreaterThan(190)
    expect(parseDelivery(message.content, message.headers)).toEqual(delivery)
  })

  test('the broker’s headers of one wait are not carried into the next', async () => {
    const broker = await open()
    const deaths: unknown[] = []
    await broker.consume({
      queue: Queue.deliveryDue,
      parse: ({ content, headers }) => ({ delivery: parseDelivery(content, headers), death: headers['x-death'] }),
      handle: async ({ delivery, death }) => {
        deaths.push(death)
        if (delivery.slot < 3) await broker.publishRetry({ ...delivery, slot: delivery.slot + 1 }, 200)
      },
      concurrency: 1,
      recovered: () => Promise.resolve(),
    })
    await broker.publishDelivery(sampleDelivery())
    await eventually(() => expect(deaths).toHaveLength(4))
    expect(deaths[0]).toBeUndefined()
    for (const death of deaths.slice(1)) expect(death).toMatchObject([{ queue: 'delivery.wait.200', count: 1 }])
  })
})

describe('with several shards', () => {
  test('deliveries are divided by subscription, and each shard is declared', async () => {
    const broker = await open({ topology: serviceTopology([200], { deliveryShards: 3 }) })
    const shards = await Promise.all(dueQueues(3).map((queue) => collect(broker, queue)))
    const deliveries = Array.from({ length: 30 }, () => sampleDelivery())
    const twice = deliveries.map((delivery) => ({ ...delivery, attempt: 1 }))
    await Promise.all([...deliveries, ...twice].map((delivery) => broker.publishDelivery(delivery)))
    await eventually(() => expect(shards.flat()).toHaveLength(60))
    const subscriptionsOf = shards.map(
      (messages) => new Set(messages.map(({ content, headers }) => parseDelivery(content, headers).subscriptionId)),
    )
    for (const subscriptions of subscriptionsOf) expect(subscriptions.size).toBeGreaterThan(0)
    expect(subscriptionsOf.reduce((sum, { size }) => sum + size, 0)).toBe(30)
  })

  test('retries wait in the queues of their shards, and return to their shards', async () => {
    const broker = await open({ topology: serviceTopology([200], { deliveryShards: 3 }) })
    const shards = await Promise.all(dueQueues(3).map((queue) => collect(broker, queue)))
    await Promise.all(Array.from({ length: 30 }, () => broker.publishRetry(sampleDelivery(), 200)))
    await eventually(() => expect(shards.flat()).toHaveLength(30))
    const waitedIn = shards.map((messages) => new Set(messages.map(({ headers }) => headers['x-first-death-queue'])))
    expect(waitedIn).toEqual(waitQueues(200, 3).map((queue) => new Set([queue])))
  })

  test('retries that wait in a shard of an earlier configuration return to a shard that is consumed', async () => {
    const before = await open({ topology: serviceTopology([1_000], { deliveryShards: 3 }) })
    await Promise.all(Array.from({ length: 30 }, () => before.publishRetry(sampleDelivery(), 1_000)))
    await before.close()
    const shards = await countShards({ url: proxy.url, log, name: 'count', configured: 1, namesOf: dueQueues })
    const after = await open({ topology: serviceTopology([], { others: dueQueues(shards) }) })
    const messages = await Promise.all(dueQueues(shards).map((queue) => collect(after, queue)))
    await eventually(() => expect(messages.flat()).toHaveLength(30))
  })

  test('events are divided by call, and each shard confirms its own', async () => {
    const broker = await open({ topology: serviceTopology([], { eventShards: 3 }) })
    const shards = await Promise.all(eventQueues(3).map((queue) => collect(broker, queue)))
    const calls = Array.from({ length: 30 }, () => randomUUID())
    const events = [...calls, ...calls].map((callId) => ({ ...sampleEvent(), data: { callId } }))
    await publishEvents(broker, events)
    await eventually(() => expect(shards.flat()).toHaveLength(60))
    const callsOf = shards.map((messages) => new Set(messages.map(({ content }) => parseEvent(content).data['callId'])))
    for (const some of callsOf) expect(some.size).toBeGreaterThan(0)
    expect(callsOf.reduce((sum, { size }) => sum + size, 0)).toBe(30)
    expect(new Set(shards.flat().map(({ routingKey }) => routingKey))).toEqual(new Set(['call.status']))
  })

  test('shards of an earlier configuration are counted too, and their deliveries are not lost', async () => {
    const before = await open({ topology: serviceTopology([200], { deliveryShards: 4 }) })
    const deliveries = Array.from({ length: 30 }, () => sampleDelivery())
    await Promise.all(deliveries.map((delivery) => before.publishDelivery(delivery)))
    await before.close()
    const options = { url: proxy.url, log, name: 'count', namesOf: dueQueues }
    expect(await countShards({ ...options, configured: 1 })).toBe(4)
    expect(await countShards({ ...options, configured: 6 })).toBe(6)
    const shards = await countShards({ ...options, configured: 2 })
    const after = await open({ topology: serviceTopology([200], { deliveryShards: shards }) })
    const messages = await Promise.all(dueQueues(shards).map((queue) => collect(after, queue)))
    await eventually(() => expect(messages.flat()).toHaveLength(30))
  })

  test('a shard behind a gap is counted too', async () => {
    const observer = await openQueueObserver(server.amqpUrl)
    const options = { url: server.amqpUrl, log, name: 'test', namesOf: dueQueues }
    await open({ topology: serviceTopology([], { deliveryShards: 5 }) })
    for (const queue of ['delivery.due.1', 'delivery.due.3']) await observer.channel.deleteQueue(queue)
    expect(await countShards({ ...options, configured: 1 })).toBe(5)
    await observer.channel.deleteQueue('delivery.due.4')
    expect(await countShards({ ...options, configured: 2 })).toBe(3)
    await observer.close()
  })

  test('counting waits for an unreachable broker', async () => {
    proxy.refuse()
    const counting = countShards({ url: proxy.url, log, name: 'count', configured: 2, namesOf: dueQueues })
    await eventually(() => expect(log.count('waiting for RabbitMQ')).toBeGreaterThan(0))
    proxy.accept()
    expect(await counting).toBe(2)
  })
})

describe('with several nodes', () => {
  test('a node that does not answer is skipped, and a lost node is replaced by the next', async () => {
    const [second, third] = [await startTcpProxy(server.amqpUrl), await startTcpProxy(server.amqpUrl)]
    proxy.refuse()
    const broker = await open({ url: [proxy.url, second.url, third.url] })
    for (const lost of [second, third, second]) {
      second.accept()
      third.accept()
      lost.refuse()
      await eventually(() => broker.publishEvent(sampleEvent()))
      await broker.ready()
      expect(lost.connections()).toBe(0)
    }
    await Promise.all([second.close(), third.close()])
  })
})

test('a node that stays connected but stores nothing is replaced by the next', async () => {
  const other = await startTcpProxy(server.amqpUrl)
  const broker = await open({ url: [proxy.url, other.url], confirmTimeoutMs: 100, stuckAfterMs: 300 })
  // Publishing and consuming start at a random node, so each needs a second one.
  proxy.freeze()
  await eventually(() => broker.publishEvent(sampleEvent()))
  proxy.thaw()
  other.freeze()
  await eventually(() => broker.publishEvent(sampleEvent()))
  other.thaw()
  expect(log.count('closing a failed RabbitMQ connection')).toBeGreaterThan(0)
  await other.close()
})

test('the largest headers fit into the smallest frames that are accepted', async () => {
  const broker = await open({ url: `${proxy.url}?frameMax=${MIN_FRAME_BYTES}` })
  const headers = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`x-${n}`, 'a'.repeat(360)]))
  await broker.publishRetry(sampleDelivery({ url: `https://client.example/${'u'.repeat(2_000)}`, headers }), 200)
  const note = '€'.repeat(16_300)
  const sender = await connect(server.amqpUrl)
  const channel = await sender.createChannel()
  channel.sendToQueue(Queue.fanoutEvents, Buffer.from('{}'), { headers: { note } })
  await broker.consume({
    queue: Queue.fanoutEvents,
    parse: () => {
      throw new Unparsable('not an event')
    },
    handle: () => Promise.resolve(),
    concurrency: 1,
    recovered: () => Promise.resolve(),
  })
  const quarantined = await first(await collect(broker, Queue.quarantine))
  expect(quarantined.headers['note']).toBe(note)
  expect(log.count('lost the connection to RabbitMQ')).toBe(0)
  await sender.close()
})

test('a queue that stays full fails no other publish', async () => {
  const topology = serviceTopology([])
  const full = { ...topology.queues[Queue.yielding], 'x-max-length': 1 }
  const broker = await open({
    topology: { ...topology, queues: { ...topology.queues, [Queue.yielding]: full } },
    stuckAfterMs: 300,
  })
  const refused = new Set<string>()
  for (const end = performance.now() + 2_000; performance.now() < end; ) {
    await Promise.all([
      broker.publishDelivery(sampleDelivery()),
      broker.publishYielding(sampleDelivery()).catch((error: Error) => refused.add(error.message)),
    ])
  }
  expect([...refused]).toEqual(['RabbitMQ rejected the message'])
  expect(log.count('closing a failed RabbitMQ connection')).toBe(0)
})

describe('connecting', () => {
  test('opening waits for an unreachable broker, and logs it', async () => {
    proxy.refuse()
    const opening = open()
    await eventually(() => expect(log.count('waiting for RabbitMQ')).toBeGreaterThanOrEqual(2))
    proxy.accept()
    const broker = await opening
    expect(broker.isReady()).toBe(true)
    await broker.publishEvent(sampleEvent())
    expect(log.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('publishing and consuming recover after the server has closed all connections', async () => {
    const broker = await open()
    const events = await collect(broker, Queue.fanoutEvents)
    await eventually(async () => expect(await server.management.connectionNames()).toHaveLength(2))
    expect(await server.management.closeConnections()).toBe(2)
    await eventually(() => expect(broker.isReady()).toBe(false))
    await broker.ready()
    await broker.publishEvent(sampleEvent())
    await first(events)
    expect(log.count('lost the connection to RabbitMQ')).toBe(2)
  })

  test('a connection that is cut during its set-up is set up again', async () => {
    proxy.cutWhen((chunk) => chunk.includes(Queue.deliveryDue))
    const broker = await open()
    const events = await collect(broker, Queue.fanoutEvents)
    proxy.cutWhen((chunk, direction) => direction === 'toServer' && chunk.includes(Queue.quarantine))
    proxy.cut()
    await eventually(() => expect(broker.isReady()).toBe(false))
    await broker.ready()
    await broker.publishEvent(sampleEvent())
    await first(events)
    expect(log.count('waiting for RabbitMQ')).toBeGreaterThan(0)
  })

  test('a deleted queue is declared again, and consumed', async () => {
    const broker = await open()
    const events = await collect(broker, Queue.fanoutEvents)
    await server.management.deleteQueue(Queue.fanoutEvents)
    await eventually(() => expect(log.count('closing a failed RabbitMQ connection')).toBe(1))
    await broker.ready()
    await eventually(() => broker.publishEvent(sampleEvent()))
    await first(events)
  })

  test('a queue that is deleted under load is consumed again by each process that consumed it', async () => {
    const { exchanges, queues, bindings } = serviceTopology([])
    // With less to declare, the queue is declared sooner.
    const topology: Topology = {
      exchanges: { [DELIVERY_EXCHANGE]: exchanges[DELIVERY_EXCHANGE] ?? 'direct' },
      queues: { [Queue.deliveryDue]: queues[Queue.deliveryDue] ?? {} },
      bindings: bindings.filter(({ to }) => to === Queue.deliveryDue),
    }
    const brokers = [await open({ topology }), await open({ topology })]
    const received = await Promise.all(brokers.map((broker) => collect(broker, Queue.deliveryDue)))
    const publishing = setInterval(() => void brokers[0]?.publishDelivery(sampleDelivery()).catch(() => {}), 5)
    const eachReceivesMore = async (): Promise<void> => {
      const before = received.map(({ length }) => length)
      const areMore = () =>
        expect(received.map(({ length }, i) => length > (before[i] ?? 0) + 20)).toEqual([true, true])
      await eventually(areMore, { timeoutMs: 12_000 })
    }
    try {
      await eachReceivesMore()
      await server.management.deleteQueue(Queue.deliveryDue)
      await eachReceivesMore()
    } finally {
      clearInterval(publishing)
    }
  })

  test('a deleted queue without consumers is declared again by the publish that finds it missing, on the same connection', async () => {
    const broker = await open()
    const due = await collect(broker, Queue.deliveryDue)
    await server.management.deleteQueue('delivery.wait.200')
    const lost = [broker.publishRetry(sampleDelivery(), 200), broker.publishRetry(sampleDelivery(), 200)]
    for (const publishing of lost) await expect(publishing).rejects.toThrow('no queue accepts delivery.wait.200')
    const delivery = sampleDelivery()
    await eventually(() => broker.publishRetry(delivery, 200))
    expect((await first(due)).messageId).toBe(delivery.deliveryId)
    expect(log.count('a queue or binding is missing; declaring it again')).toBe(1)
    expect(proxy.accepted()).toBe(2)
  })

  test('a queue that exists with other arguments is logged as an error', async () => {
    await open()
    const { queues, ...rest } = serviceTopology([])
    const other = { ...rest, queues: { ...queues, [Queue.deliveryDue]: { 'x-queue-type': 'quorum' } } }
    const opening = openBroker({ url: server.amqpUrl, topology: other, log, name: 'other' })
    await eventually(() => expect(log.count('RabbitMQ refuses the set-up; retrying')).toBeGreaterThan(0))
    await server.management.deleteQueue(Queue.deliveryDue)
    opened.push(await opening)
  })

  test.each([
    ['an unknown user', (url: URL) => void (url.username = 'nobody'), 'check user and password'],
    ['an unknown virtual host', (url: URL) => void (url.pathname = '/none'), 'accepts the login and refuses'],
  ])('%s is logged as an error that says what to check', async (_what, spoil, words) => {
    const url = new URL(server.amqpUrl)
    spoil(url)
    const link = openLink({ url: url.href, log, name: 'refused', changed: () => {}, setUp: async () => {} })
    const level = 'error'
    await eventually(() =>
      expect(log.lines).toContainEqual(expect.objectContaining({ level, message: expect.stringContaining(words) })),
    )
    await link.close()
  })

  test('the broker has the topology as declared', async () => {
    await open()
    const { queues, bindings } = serviceTopology([200])
    const found = await server.management.queues()
    expect(Object.fromEntries(found.map((queue) => [queue.name, queue.arguments]))).toEqual(queues)
    expect(await server.management.bindings()).toEqual(
      expect.arrayContaining(bindings.map(({ from, key, to }) => ({ source: from, routingKey: key, destination: to }))),
    )
  })

  test('a closed broker rejects every call', async () => {
    const broker = await open()
    const stillWaiting = broker.ready()
    await broker.close()
    await stillWaiting
    expect(broker.isReady()).toBe(false)
    await expect(broker.ready()).rejects.toThrow('the connection to RabbitMQ was closed')
    await expect(broker.publishEvent(sampleEvent())).rejects.toThrow(Unavailable)
    await eventually(async () => expect(await server.management.connectionNames()).toEqual([]))
  })

  test('closing rejects the calls that wait for an unreachable broker', async () => {
    const broker = await open()
    proxy.refuse()
    await eventually(() => expect(broker.isReady()).toBe(false))
    const waiting = Promise.allSettled([broker.ready()])
    await broker.close()
    expect(await waiting).toMatchObject([{ status: 'rejected', reason: { name: 'Unavailable' } }])
  })
})
