import { setTimeout as sleep } from 'node:timers/promises'
import { type PlatformEvent, parseEvent, Unavailable, Unparsable } from '@switchhook/contracts'
import {
  evaluateInBroker,
  eventually,
  openQueueObserver,
  type QueueObserver,
  type RecordingLog,
  recordingLog,
  startTcpProxy,
  type TcpProxy,
  type TestBroker,
  testBroker,
} from '@switchhook/testkit'
import { type Broker, openBroker } from '../broker.ts'
import { openQuarantine } from '../quarantine/quarantine.ts'
import { publishEvents, sampleEvent } from '../testing/samples.ts'
import { Queue, serviceTopology, type Topology } from '../topology/topology.ts'
import type { ConsumeOptions, ConsumerTiming } from './consume-options.ts'
import type { Consumer } from './consumer.ts'

interface Taken {
  readonly event: PlatformEvent
  readonly redelivered: boolean
  readonly deliveryCount: unknown
}

const FAST: Partial<ConsumerTiming> = { firstPauseMs: 20, longestPauseMs: 50, retryForMs: 60_000, bugDelayMs: 5 }

let server: TestBroker
let proxy: TcpProxy
let log: RecordingLog
let observer: QueueObserver
const opened: Broker[] = []

beforeEach(async () => {
  server = await testBroker()
  proxy = await startTcpProxy(server.amqpUrl)
  log = recordingLog()
  observer = await openQueueObserver(server.amqpUrl)
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((broker) => broker.close()))
  await observer.close()
  await proxy.close()
  await server.close()
})

async function open(consumerTiming = FAST, topology = serviceTopology([])): Promise<Broker> {
  const broker = await openBroker({ url: proxy.url, topology, log, name: 'test', consumerTiming })
  opened.push(broker)
  return broker
}

function consume(
  broker: Broker,
  options: Partial<ConsumeOptions<Taken>> & Pick<ConsumeOptions<Taken>, 'handle'>,
): Promise<Consumer> {
  return broker.consume({
    queue: Queue.fanoutEvents,
    parse: ({ content, redelivered, headers }) => ({
      event: parseEvent(content),
      redelivered,
      deliveryCount: headers['x-delivery-count'],
    }),
    concurrency: 5,
    recovered: () => Promise.resolve(),
    ...options,
  })
}

const publish = (broker: Broker, count: number): Promise<unknown> =>
  publishEvents(
    broker,
    Array.from({ length: count }, () => sampleEvent()),
  )

const away = (): Promise<never> => Promise.reject(new Unavailable('redis', 'away'))

const waiting = (count: number, queue: string = Queue.fanoutEvents): Promise<void> =>
  eventually(async () => expect(await observer.ready(queue)).toBe(count))

/** Messages left in the queue once none is in flight. */
async function left(broker: Broker, consumer: Consumer): Promise<number> {
  await consumer.drain()
  await broker.close()
  return await observer.ready(Queue.fanoutEvents)
}

const TIMING = { firstPauseMs: 1, longestPauseMs: 5, retryForMs: 60_000, bugDelayMs: 5 }

test('a message is acknowledged when its handler resolves', async () => {
  const broker = await open()
  let handled = 0
  const consumer = await consume(broker, { handle: async () => void (handled += 1) })
  await publish(broker, 30)
  await eventually(() => expect(handled).toBe(30))
  expect(await left(broker, consumer)).toBe(0)
})

test('no more messages are in flight than the concurrency', async () => {
  const broker = await open()
  const finish = Promise.withResolvers<void>()
  let [inFlight, most] = [0, 0]
  let done = 0
  const consumer = await consume(broker, {
    handle: async () => {
      most = Math.max(most, ++inFlight)
      await finish.promise
      inFlight -= 1
      done += 1
    },
  })
  await publish(broker, 20)
  await eventually(() => expect(consumer.inFlight()).toBe(5))
  finish.resolve()
  await eventually(() => expect(done).toBe(20))
  expect(most).toBe(5)
})

describe('while a dependency is down', () => {
  test('a consumer takes no messages, calls the handler once per message, and then continues with the same messages', async () => {
    const broker = await open()
    const [full, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isAway = true
    const calls: Taken[] = []
    const handled: Taken[] = []
    const consumer = await consume(broker, {
      handle: async (taken) => {
        calls.push(taken)
        // A message that arrives after the first failure waits without a call.
        if (calls.length === 5) full.resolve()
        await full.promise
        if (isAway) await away()
        handled.push(taken)
      },
      recovered: () => back.promise,
    })
    await publish(broker, 12)
    await eventually(() => expect(log.count('consuming paused')).toBe(1))
    await waiting(7)
    expect(calls).toHaveLength(5)

    isAway = false
    back.resolve()
    await eventually(() => expect(handled).toHaveLength(12))
    expect(calls).toHaveLength(17)
    // No message returned to the queue, so none counted towards the delivery limit.
    expect(handled.filter(({ redelivered }) => redelivered)).toEqual([])
    expect(log.count('consuming resumed')).toBe(1)
    expect(await left(broker, consumer)).toBe(0)
  })

  test('new messages stay in the queue for other replicas', async () => {
    const broker = await open()
    const consumer = await consume(broker, { handle: away, recovered: () => new Promise(() => {}) })
    await publish(broker, 1)
    await eventually(() => expect(log.count('consuming paused')).toBe(1))
    await publish(broker, 3)
    await waiting(3)
    expect(consumer.inFlight()).toBe(1)
  })

  test('each failed retry makes the next pause longer', async () => {
    const broker = await open({ firstPauseMs: 50, longestPauseMs: 200, retryForMs: 60_000, bugDelayMs: 5 })
    const calls: number[] = []
    const consumer = await consume(broker, {
      handle: async () => {
        calls.push(performance.now())
        if (calls.length <= 5) await away()
      },
    })
    await publish(broker, 1)
    await eventually(() => expect(calls).toHaveLength(6))
    const waits = calls.slice(1).map((at, n) => at - (calls[n] ?? 0))
    ;[50, 100, 200, 200, 200].forEach((wait, n) => expect(waits[n]).toBeGreaterThan(wait * 0.95))
    expect(await left(broker, consumer)).toBe(0)
  })

  test('after the time for retries its messages return to the queue, once, for a replica that can handle them', async () => {
    const [troubled, healthy] = [await open({ ...FAST, retryForMs: 100, bugDelayMs: 5 }), await open()]
    const full = Promise.withResolvers<void>()
    let failures = 0
    await publish(troubled, 3)
    await waiting(3)
    await consume(troubled, {
      handle: async () => {
        failures += 1
        // A message that arrives after the first failure waits without a call.
        if (failures === 3) full.resolve()
        await full.promise
        await away()
      },
      recovered: () => new Promise(() => {}),
    })
    await eventually(() => expect(failures).toBe(3))
    const handled: Taken[] = []
    await consume(healthy, { handle: async (taken) => void handled.push(taken) })
    await eventually(() => expect(handled).toHaveLength(3))
    // From RabbitMQ 4.3 on a returned message is not counted.
    expect(handled.map(({ deliveryCount = 1 }) => deliveryCount)).toEqual([1, 1, 1])
    expect(failures).toBe(3)
  })

  test('a reconnection during a pause does not resume consuming', async () => {
    const broker = await open()
    const back = Promise.withResolvers<void>()
    let isAway = true
    const calls: Taken[] = []
    const consumer = await consume(broker, {
      handle: async (taken) => {
        calls.push(taken)
        if (isAway) await away()
      },
      recovered: () => back.promise,
    })
    await publish(broker, 1)
    await eventually(() => expect(log.count('consuming paused')).toBe(1))
    proxy.cut()
    await eventually(() => expect(broker.isReady()).toBe(false))
    await broker.ready()
    await waiting(1)
    expect(calls).toHaveLength(1)
    isAway = false
    back.resolve()
    await eventually(() => expect(calls).toHaveLength(2))
    expect(await left(broker, consumer)).toBe(0)
  })

  test('a drain returns the messages that wait for a retry', async () => {
    const broker = await open()
    const consumer = await consume(broker, { handle: away, recovered: () => new Promise(() => {}) })
    await publish(broker, 2)
    await eventually(() => expect(consumer.inFlight()).toBe(2))
    await eventually(() => expect(log.count('consuming paused')).toBe(1))
    await consumer.drain()
    expect(consumer.inFlight()).toBe(0)
    await waiting(2)
  })

  test('a recovery check that fails is repeated', async () => {
    const broker = await open()
    let [asked, calls] = [0, 0]
    await consume(broker, {
      handle: () => (++calls === 1 ? away() : Promise.resolve()),
      recovered: () => {
        asked += 1
        if (asked === 1) throw new Error('thrown')
        return asked === 2 ? Promise.reject(new Error('rejected')) : Promise.resolve()
      },
    })
    await publish(broker, 1)
    await eventually(() => expect({ asked, calls }).toEqual({ asked: 3, calls: 2 }))
  })
})

test('a message that hits a bug is redelivered after a moment, and delays no other message', async () => {
  const broker = await open({ ...TIMING, bugDelayMs: 300 })
  const poison = sampleEvent({ poison: true })
  const calls: number[] = []
  const handled: number[] = []
  const consumer = await consume(broker, {
    handle: async ({ event }) => {
      if (event.eventId !== poison.eventId) return void handled.push(performance.now())
      calls.push(performance.now())
      if (calls.length <= 2) throw new TypeError('a bug')
    },
  })
  await broker.publishEvent(poison)
  await publish(broker, 10)
  await eventually(() => expect([calls.length, handled.length]).toEqual([3, 10]))
  expect(handled[0]).toBeLessThan(calls[1] ?? 0)
  for (const [n, at] of calls.slice(1).entries()) expect(at - (calls[n] ?? 0)).toBeGreaterThan(295)
  expect(await left(broker, consumer)).toBe(0)
})

test('a message that always hits a bug ends in quarantine, and the others are handled', async () => {
  const broker = await open({ ...TIMING, bugDelayMs: 2 })
  const poison = sampleEvent({ poison: true })
  let attempts = 0
  const handled: PlatformEvent[] = []
  await consume(broker, {
    handle: async ({ event }) => {
      if (event.eventId !== poison.eventId) return void handled.push(event)
      attempts += 1
      throw new TypeError('a bug')
    },
  })
  await broker.publishEvent(poison)
  await publish(broker, 10)
  await eventually(() => expect(handled).toHaveLength(10))
  const quarantine = await openQuarantine({ url: server.amqpUrl, name: 'test' })
  const [found] = await eventually(async () => {
    const messages = await quarantine.list(10)
    expect(messages).toHaveLength(1)
    return messages
  })
  await quarantine.close()
  expect(parseEvent(found?.content ?? Buffer.alloc(0))).toEqual(poison)
  expect(found?.origin).toMatchObject({
    reason: 'delivery_limit',
    queue: Queue.fanoutEvents,
    exchange: 'switchhook.fanout',
    routingKey: 'call.status',
  })
  expect(attempts).toBe(21)
  expect(log.lines.filter(({ level }) => level === 'error').length).toBeGreaterThan(0)
})

describe('a message that cannot be parsed', () => {
  test('is moved to quarantine immediately, and never reaches the handler', async () => {
    const broker = await open()
    const handled: Taken[] = []
    const consumer = await consume(broker, {
      parse: () => {
        throw new Unparsable('/eventId is required')
      },
      handle: async (taken) => void handled.push(taken),
    })
    await publish(broker, 3)
    await waiting(3, Queue.quarantine)
    expect(await left(broker, consumer)).toBe(0)
    expect(handled).toEqual([])
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(3)
    expect(log.lines.find(({ level }) => level === 'warn')).toMatchObject({
      message: 'message put into quarantine',
      fields: { queue: Queue.fanoutEvents, reason: '/eventId is required' },
    })
  })

  test('waits, and is not lost, while the quarantine accepts no messages', async () => {
    const { queues, ...rest } = serviceTopology([])
    const tight: Topology = {
      ...rest,
      queues: { ...queues, [Queue.quarantine]: { ...queues[Queue.quarantine], 'x-max-length': 1 } },
    }
    const broker = await open(FAST, tight)
    const consumer = await consume(broker, {
      concurrency: 1,
      parse: () => {
        throw new Unparsable('no')
      },
      handle: () => Promise.resolve(),
    })
    await publish(broker, 10)
    await eventually(() => expect(log.count('consuming paused')).toBeGreaterThan(0))
    await eventually(async () => {
      await observer.channel.purgeQueue(Queue.quarantine)
      expect(log.count('message put into quarantine')).toBe(10)
    })
    expect(await left(broker, consumer)).toBe(0)
  })
})

describe('draining', () => {
  test('finishes and acknowledges the messages in flight, and leaves the rest in the queue', async () => {
    const broker = await open()
    const finish = Promise.withResolvers<void>()
    let handled = 0
    const consumer = await consume(broker, {
      handle: async () => {
        await finish.promise
        handled += 1
      },
    })
    await publish(broker, 8)
    await eventually(() => expect(consumer.inFlight()).toBe(5))
    let drained = false
    const draining = consumer.drain().then(() => (drained = true))
    await publish(broker, 1)
    await waiting(4)
    expect(drained).toBe(false)
    finish.resolve()
    await draining
    await consumer.drain()
    expect(handled).toBe(5)
    expect(await left(broker, consumer)).toBe(4)
  })

  // A quorum queue holds some acks back in the channel, and they are lost when it closes.
  test('redelivers none of many messages that were handled just before', async () => {
    const broker = await open()
    const finish = Promise.withResolvers<void>()
    const consumer = await consume(broker, { concurrency: 200, handle: () => finish.promise })
    await publish(broker, 200)
    await eventually(() => expect(consumer.inFlight()).toBe(200))
    finish.resolve()
    expect(await left(broker, consumer)).toBe(0)
  })

  test('is final: a reconnection does not resume a drained consumer', async () => {
    const broker = await open()
    let handled = 0
    const consumer = await consume(broker, { handle: async () => void (handled += 1) })
    await consumer.drain()
    proxy.cut()
    await eventually(() => expect(broker.isReady()).toBe(false))
    await broker.ready()
    await publish(broker, 1)
    await waiting(1)
    expect(handled).toBe(0)
  })
})

test('a message in flight when the connection is lost is redelivered, and its late ack has no effect', async () => {
  const broker = await open()
  const finish = Promise.withResolvers<void>()
  const calls: Taken[] = []
  const consumer = await consume(broker, {
    handle: async (taken) => {
      calls.push(taken)
      if (calls.length === 1) await finish.promise
    },
  })
  await publish(broker, 1)
  await eventually(() => expect(calls).toHaveLength(1))
  proxy.cut()
  await eventually(() => expect(calls).toHaveLength(2))
  finish.resolve()
  await broker.ready()
  await publish(broker, 1)
  await eventually(() => expect(calls).toHaveLength(3))
  expect(calls.map(({ redelivered }) => redelivered)).toEqual([false, true, false])
  expect(await left(broker, consumer)).toBe(0)
  expect(log.count('closing a failed RabbitMQ connection')).toBe(0)
})

const evaluate = evaluateInBroker()
const testWhenOurs = evaluate === undefined ? test.skip : test

testWhenOurs('queues that do not answer delay no other consumer for long after a reconnection', async () => {
  const broker = await open()
  const queues = [Queue.deliveryDue, Queue.yielding, Queue.yieldingPackets, Queue.receiverChecks]
  const processes = queues.map((queue) => `'${new URL(server.amqpUrl).pathname.slice(1)}_${queue}'`)
  const call = (name: string) => evaluate?.(`[ok = sys:${name}(Queue) || Queue <- [${processes.join(', ')}]].`)
  // Attached in this order; each of the first four is answered after 10 s at the earliest.
  for (const queue of queues) await consume(broker, { queue, handle: () => Promise.resolve() })
  const handled: string[] = []
  await consume(broker, { handle: async ({ event }) => void handled.push(event.eventId) })
  await call('suspend')
  try {
    proxy.cut()
    await eventually(() => expect(broker.isReady()).toBe(false))
    await broker.ready()
    const event = sampleEvent()
    await broker.publishEvent(event)
    await eventually(() => expect(handled).toEqual([event.eventId]))
  } finally {
    await call('resume')
  }
})

describe('a set-up that cannot attach a consumer fails, and is repeated after longer and longer pauses:', () => {
  const user = `restricted-${process.pid}`
  afterEach(() => server.management.call('DELETE', `users/${user}`))

  test.each([
    ['no permission to read its queue', `^(?!${Queue.receiverChecks}$)`, '', 'RabbitMQ refuses the set-up; retrying'],
    ['no channel left', '.*', '?channelMax=1', 'waiting for RabbitMQ'],
  ])('%s', async (_case, read, query, line) => {
    const { call } = server.management
    const vhost = new URL(server.amqpUrl).pathname
    await call('PUT', `users/${user}`, { password: 'secret', tags: '' })
    await call('PUT', `permissions${vhost}/${user}`, { configure: '.*', write: '.*', read })
    await open()
    const url = Object.assign(new URL(server.amqpUrl), { username: user, password: 'secret', search: query }).href
    const ofRestricted = recordingLog()
    const broker = await openBroker({ url, topology: serviceTopology([]), log: ofRestricted, name: 'restricted' })
    opened.push(broker)
    await consume(broker, { handle: () => Promise.resolve() })
    await consume(broker, { queue: Queue.receiverChecks, handle: () => Promise.resolve() })
    await sleep(4_000)
    expect(ofRestricted.count('connected to RabbitMQ')).toBe(2)
    expect(ofRestricted.count(line)).toBeGreaterThan(0)
  })
})
