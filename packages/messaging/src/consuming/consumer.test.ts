import { EventEmitter } from 'node:events'
import { Unavailable } from '@switchhook/contracts'
import { eventually, recordingLog } from '@switchhook/testkit'
import type { ChannelModel, ConsumeMessage } from 'amqplib'
import type { Session } from '../link/session.ts'
import { type ConsumeOptions, TIMING } from './consume-options.ts'
import { createConsumer, type QueueConsumer } from './consumer.ts'

type Answer = () => Promise<unknown>
type Receive = (message: ConsumeMessage | null) => void

/** A connection with one channel, whose broker gives the answers that the test sets. */
interface FakeSession extends Session {
  readonly channel: EventEmitter
  /** The requests on the channel, in order. */
  readonly requests: readonly string[]
  readonly failures: readonly Error[]
  readonly receive: Receive
}

const never: Answer = () => new Promise(() => {})

function fakeSession(answers: Readonly<Record<string, Answer>> = {}): FakeSession {
  const requests: string[] = []
  const failures: Error[] = []
  let receive: Receive | undefined
  const request = (name: string): Promise<unknown> => {
    requests.push(name)
    return (answers[name] ?? (() => Promise.resolve({})))()
  }
  const channel = Object.assign(new EventEmitter(), {
    prefetch: () => request('prefetch'),
    consume: (_queue: string, take: Receive) => {
      receive = take
      return request('consume')
    },
    cancel: () => request('cancel'),
    checkQueue: () => request('checkQueue'),
    close: () => request('close'),
    ack: () => void requests.push('ack'),
    nack: () => void requests.push('nack'),
    reject: () => void requests.push('reject'),
  })
  return {
    model: { createChannel: () => request('open').then(() => channel) } as unknown as ChannelModel,
    channel,
    requests,
    failures,
    fail: (error) => void failures.push(error),
    receive: (message) => receive?.(message),
  }
}

const fakeMessage = (deliveryTag = 1, content = '{}'): ConsumeMessage =>
  ({
    content: Buffer.from(content),
    fields: { deliveryTag, redelivered: false, exchange: '', routingKey: '', consumerTag: '' },
    properties: { headers: {} },
  }) as ConsumeMessage

const FAST = { ...TIMING, firstPauseMs: 1, longestPauseMs: 5, retryForMs: 60_000, bugDelayMs: 1, answerMs: 20 }
const log = recordingLog()
const opened: QueueConsumer[] = []

afterEach(() => {
  for (const consumer of opened.splice(0)) consumer.stop()
})

/** @param received the messages that all consumers have received, at each call */
function create(options: Partial<ConsumeOptions<unknown>> = {}, timing = FAST, received = () => 0): QueueConsumer {
  const consumer = createConsumer<unknown>(
    {
      queue: 'q',
      parse: () => undefined,
      handle: () => Promise.resolve(),
      concurrency: 5,
      recovered: () => Promise.resolve(),
      ...options,
    },
    {
      log,
      publish: () => Promise.resolve(),
      brokerReady: () => Promise.resolve(),
      received,
      name: 'test',
      timing,
    },
  )
  opened.push(consumer)
  return consumer
}

const away = (): Promise<never> => Promise.reject(new Unavailable('redis', 'away'))

const count = ({ requests }: FakeSession, name: string): number => requests.filter((request) => request === name).length

describe('a second connection', () => {
  test('gets a consumer although the first one never confirmed its consumer and never closed', async () => {
    const consumer = create()
    const [first, second] = [fakeSession({ consume: never }), fakeSession()]
    void consumer.attach(first)
    await eventually(() => expect(count(first, 'consume')).toBe(1))
    await consumer.attach(second)
    expect(count(second, 'consume')).toBe(1)
    expect([consumer.isConsuming(first), consumer.isConsuming(second)]).toEqual([false, true])
  })

  test('keeps its consumer when the close event of the first channel comes late', async () => {
    const consumer = create()
    const [first, second] = [fakeSession(), fakeSession()]
    await consumer.attach(first)
    await consumer.attach(second)
    first.channel.emit('close')
    expect(consumer.isConsuming(second)).toBe(true)
  })

  test('closes a channel of the first one that opens only then', async () => {
    const consumer = create({}, { ...FAST, answerMs: 10_000 })
    const gate = Promise.withResolvers<void>()
    const [first, second] = [fakeSession({ open: () => gate.promise }), fakeSession()]
    const late = consumer.attach(first)
    await consumer.attach(second)
    gate.resolve()
    await late
    expect(count(first, 'close')).toBe(1)
    expect(consumer.isConsuming(second)).toBe(true)
  })

  test('ignores messages that still arrive on the first one', async () => {
    let handled = 0
    const consumer = create({ handle: async () => void (handled += 1) })
    const [first, second] = [fakeSession(), fakeSession()]
    await consumer.attach(first)
    await consumer.attach(second)
    first.receive(fakeMessage())
    second.receive(fakeMessage())
    await eventually(() => expect(second.requests).toContain('ack'))
    expect(handled).toBe(1)
    expect(first.requests).not.toContain('nack')
  })

  test('keeps its consumer when a cancel on the first one stays unanswered', async () => {
    const back = Promise.withResolvers<void>()
    const consumer = create({ handle: away, recovered: () => back.promise }, { ...FAST, answerMs: 500 })
    const [first, second] = [fakeSession({ cancel: never }), fakeSession()]
    await consumer.attach(first)
    first.receive(fakeMessage())
    await eventually(() => expect(count(first, 'cancel')).toBe(1))
    await consumer.attach(second)
    back.resolve()
    // The pause ends only after the time limit of the cancel.
    await eventually(() => expect(consumer.isPaused()).toBe(false))
    await eventually(() => expect(consumer.isConsuming(second)).toBe(true))
    expect([count(first, 'open'), count(second, 'open')]).toEqual([1, 1])
  })

  test('releases messages of the first one that wait for the end of a pause', async () => {
    const back = Promise.withResolvers<void>()
    let calls = 0
    const consumer = create({
      handle: async () => {
        calls += 1
        await away()
      },
      recovered: () => back.promise,
    })
    const [first, second] = [fakeSession(), fakeSession()]
    await consumer.attach(first)
    first.receive(fakeMessage())
    await eventually(() => expect(consumer.isPaused()).toBe(true))
    await consumer.attach(second)
    await eventually(() => expect(consumer.inFlight()).toBe(0))
    expect(count(second, 'consume')).toBe(0)
    back.resolve()
    await eventually(() => expect(count(second, 'consume')).toBe(1))
    expect(calls).toBe(1)
  })
})

test('a prefetch that is not answered costs the connection', async () => {
  const session = fakeSession({ prefetch: never })
  await create().attach(session).catch(session.fail)
  expect(session.failures).toHaveLength(1)
})

test('a consume that is not answered costs only the channel, once the checks find it', async () => {
  const session = fakeSession({ consume: () => (count(session, 'consume') > 1 ? Promise.resolve({}) : never()) })
  const consumer = create()
  await consumer.attach(session)
  for (let n = 0; n < 2; n++) await consumer.check(session)
  expect([count(session, 'open'), count(session, 'close')]).toEqual([2, 1])
  await consumer.check(session)
  expect(consumer.isConsuming(session)).toBe(true)
  expect(session.failures).toEqual([])
})

test.each<[string, Record<string, () => Promise<unknown>>]>([
  ['no consume is confirmed', { consume: never }],
  ['the queue has no consumer', { checkQueue: () => Promise.resolve({ consumerCount: 0, messageCount: 0 }) }],
  ['nothing arrives', { checkQueue: () => Promise.resolve({ consumerCount: 2, messageCount: 7 }) }],
])('the connection is given up if the next channel is missed too: %s', async (_case, answers) => {
  const session = fakeSession(answers)
  const consumer = create()
  await consumer.attach(session)
  for (let n = 0; n < 6; n++) await consumer.check(session)
  expect(session.failures).not.toEqual([])
  expect(count(session, 'open')).toBe(2)
})

test('messages of other consumers excuse five replacements of the channel, and then the connection is given up', async () => {
  let received = 0
  const session = fakeSession({ consume: never })
  const consumer = create({}, FAST, () => ++received)
  await consumer.attach(session)
  for (let n = 0; n < 12; n++) await consumer.check(session)
  expect([session.failures, count(session, 'open'), count(session, 'close')]).toEqual([[], 7, 6])
  for (let n = 0; n < 2; n++) await consumer.check(session)
  expect([session.failures.length, count(session, 'open')]).toEqual([1, 7])
})

test('a miss on an earlier connection does not count on the next one', async () => {
  const consumer = create()
  const [first, second] = [fakeSession({ consume: never }), fakeSession({ consume: never })]
  await consumer.attach(first)
  await consumer.check(first)
  await consumer.attach(second)
  await consumer.check(second)
  expect(count(second, 'open')).toBe(1)
  await consumer.check(second)
  expect(count(second, 'open')).toBe(2)
})

test('a cancel that is not answered costs only the channel, and the pause continues on the next one', async () => {
  const back = Promise.withResolvers<void>()
  const session = fakeSession({ cancel: never })
  const consumer = create({ handle: away, recovered: () => back.promise })
  await consumer.attach(session)
  session.receive(fakeMessage())
  await eventually(() => expect([count(session, 'open'), count(session, 'close')]).toEqual([2, 1]))
  // The broker returns its messages with the channel.
  await eventually(() => expect(consumer.inFlight()).toBe(0))
  expect([consumer.isPaused(), count(session, 'consume')]).toEqual([true, 1])
  back.resolve()
  await eventually(() => expect(count(session, 'consume')).toBe(2))
  expect(session.failures).toEqual([])
})

test.each<[string, Record<string, () => Promise<unknown>>]>([
  ['no other channel opens', { open: () => (opens++ === 0 ? Promise.resolve({}) : never()) }],
  ['the former channel is not closed, because the broker would withhold its messages', { close: never }],
])('the connection is given up if %s', async (_case, answers) => {
  opens = 0
  const session = fakeSession({ checkQueue: never, ...answers })
  const consumer = create()
  await consumer.attach(session)
  for (let n = 0; n < 2; n++) await consumer.check(session)
  await eventually(() => expect(session.failures).toHaveLength(1))
})
let opens = 0

test('a consume that is refused after a pause costs the connection', async () => {
  const back = Promise.withResolvers<void>()
  const session = fakeSession({
    consume: () => (count(session, 'consume') > 1 ? Promise.reject(new Error('refused')) : Promise.resolve({})),
  })
  let calls = 0
  const consumer = create({ handle: () => (++calls === 1 ? away() : Promise.resolve()), recovered: () => back.promise })
  await consumer.attach(session)
  session.receive(fakeMessage())
  await eventually(() => expect(consumer.isPaused()).toBe(true))
  back.resolve()
  await eventually(() => expect(session.failures.map(({ message }) => message)).toEqual(['refused']))
  expect(consumer.isConsuming(session)).toBe(false)
})

describe('while a part of a dependency is away', () => {
  /** Fails the messages with the content `away` until `back` is called; the dependencies answer all the time. */
  function aConsumer(concurrency: number) {
    let isAway = true
    const handled: string[] = []
    const consumer = create({
      concurrency,
      parse: ({ content }) => content.toString(),
      handle: async (content) => {
        if (content === 'away' && isAway) await away()
        handled.push(String(content))
      },
    })
    return { consumer, handled, back: () => (isAway = false) }
  }

  test('only the messages that need it wait, and are retried; the others are handled, and the consumer does not pause', async () => {
    const { consumer, handled, back } = aConsumer(4)
    const session = fakeSession()
    await consumer.attach(session)
    for (const [n, content] of ['away', 'a', 'away', 'b'].entries()) session.receive(fakeMessage(n + 1, content))
    await eventually(() => expect(handled).toEqual(['a', 'b']))
    session.receive(fakeMessage(5, 'c'))
    await eventually(() => expect(handled).toEqual(['a', 'b', 'c']))
    expect([consumer.isPaused(), consumer.isConsuming(session)]).toEqual([false, true])
    await eventually(() => expect(consumer.inFlight()).toBe(2))
    back()
    await eventually(() => expect(consumer.inFlight()).toBe(0))
    expect([handled.length, count(session, 'cancel')]).toEqual([5, 0])
  })

  test('a consumer that drains begins no pause', async () => {
    let asked = 0
    const recovered = (): Promise<never> => {
      asked++
      return new Promise(() => {})
    }
    const consumer = create({ handle: away, recovered }, { ...FAST, firstPauseMs: 30 })
    const session = fakeSession()
    await consumer.attach(session)
    session.receive(fakeMessage(1, 'away'))
    await eventually(() => expect(asked).toBe(1))
    const logged = log.lines.length
    await consumer.drain()
    expect([consumer.isPaused(), log.lines.slice(logged)]).toEqual([false, []])
  })

  test('the consumer pauses when more than half of its messages would wait', async () => {
    const { consumer, back, handled } = aConsumer(4)
    const session = fakeSession()
    await consumer.attach(session)
    for (let n = 1; n <= 3; n++) session.receive(fakeMessage(n, 'away'))
    await eventually(() => expect(session.requests).toContain('cancel'))
    back()
    await eventually(() => expect(handled).toHaveLength(3))
  })
})

test('a message of a channel that was lost in a pause is not retried at its end, because the broker redelivers it', async () => {
  const back = Promise.withResolvers<void>()
  let calls = 0
  const consumer = create({ handle: () => (++calls === 1 ? away() : Promise.resolve()), recovered: () => back.promise })
  const session = fakeSession()
  await consumer.attach(session)
  session.receive(fakeMessage())
  await eventually(() => expect(consumer.isPaused()).toBe(true))
  session.channel.emit('close')
  back.resolve()
  await eventually(() => expect(consumer.inFlight()).toBe(0))
  expect(calls).toBe(1)
})

test('a channel that closes unexpectedly costs the connection', async () => {
  const session = fakeSession()
  const consumer = create()
  await consumer.attach(session)
  session.channel.emit('close')
  expect(session.failures).toHaveLength(1)
  expect(consumer.isConsuming(session)).toBe(false)
})

test('a paused consumer does not consume, and isConsuming is false', async () => {
  const back = Promise.withResolvers<void>()
  const consumer = create({ handle: away, recovered: () => back.promise })
  const session = fakeSession()
  await consumer.attach(session)
  expect(consumer.isConsuming(session)).toBe(true)
  session.receive(fakeMessage())
  await eventually(() => expect(consumer.isConsuming(session)).toBe(false))
  await consumer.check(session)
  await consumer.check(session)
  expect(session.failures).toEqual([])
})

test('a pause returns its messages after the time for retries', async () => {
  const consumer = create({ handle: away, recovered: () => new Promise(() => {}) }, { ...FAST, retryForMs: 30 })
  const session = fakeSession()
  await consumer.attach(session)
  session.receive(fakeMessage())
  await eventually(() => expect(session.requests).toContain('nack'))
  expect(consumer.isPaused()).toBe(true)
})

test('several short pauses do not keep a message for longer than one time for retries', async () => {
  const consumer = create({ handle: away }, { ...FAST, retryForMs: 30 })
  const session = fakeSession()
  await consumer.attach(session)
  session.receive(fakeMessage())
  await eventually(() => expect(session.requests).toContain('nack'))
})

describe('a check', () => {
  const sees = (consumerCount: number, messageCount: number) => () => Promise.resolve({ consumerCount, messageCount })

  test.each<[string, () => Promise<unknown>]>([
    ['finds no consumer on the queue', sees(0, 0)],
    ['finds ready messages while the channel has room for them', sees(2, 7)],
    ['is refused', () => Promise.reject(new Error('closed'))],
    ['is not answered', never],
  ])(
    'that %s costs the channel when it repeats, and not the connection of the other consumers',
    async (_case, checkQueue) => {
      const session = fakeSession({ checkQueue })
      const consumer = create()
      await consumer.attach(session)
      await consumer.check(session)
      expect(count(session, 'open')).toBe(1)
      for (let n = 0; n < 2; n++) await consumer.check(session)
      expect([count(session, 'open'), count(session, 'close'), count(session, 'consume')]).toEqual([2, 1, 2])
      expect(session.failures).toEqual([])
      expect(consumer.isConsuming(session)).toBe(false)
    },
  )

  test('that finds the consumer again makes isConsuming true', async () => {
    const consumer = create()
    const [missing, found] = [fakeSession({ checkQueue: sees(0, 0) }), fakeSession({ checkQueue: sees(1, 0) })]
    await consumer.attach(missing)
    for (let n = 0; n < 2; n++) await consumer.check(missing)
    await consumer.attach(found)
    expect(consumer.isConsuming(found)).toBe(false)
    await consumer.check(found)
    expect(consumer.isConsuming(found)).toBe(true)
  })

  test('that misses the consumer once changes nothing', async () => {
    const counts = [0, 1, 0, 1]
    const session = fakeSession({ checkQueue: () => sees(counts.shift() ?? 1, 0)() })
    const consumer = create()
    await consumer.attach(session)
    for (let n = 0; n < 5; n++) await consumer.check(session)
    expect(session.failures).toEqual([])
    expect(consumer.isConsuming(session)).toBe(true)
  })

  test('opens a channel on a connection on which the consumer was never created', async () => {
    const consumer = create()
    await consumer.attach(fakeSession())
    const present = fakeSession()
    expect(consumer.isConsuming(present)).toBe(false)
    for (let n = 0; n < 2; n++) await consumer.check(present)
    expect([count(present, 'open'), count(present, 'consume')]).toEqual([1, 1])
    expect(present.failures).toEqual([])
  })
})
