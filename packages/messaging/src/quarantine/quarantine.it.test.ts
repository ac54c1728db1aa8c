import { randomUUID } from 'node:crypto'
import { parseEvent, Unparsable } from '@switchhook/contracts'
import {
  eventually,
  openQueueObserver,
  type QueueObserver,
  recordingLog,
  type TestBroker,
  testBroker,
} from '@switchhook/testkit'
import type { ConfirmChannel, Options } from 'amqplib'
import { type Broker, openBroker } from '../broker.ts'
import type { IncomingMessage } from '../message/message.ts'
import { DELIVERY_EXCHANGE, EVENTS_EXCHANGE, Queue, serviceTopology } from '../topology/topology.ts'
import { openQuarantine, type Quarantine, type QuarantinedMessage } from './quarantine.ts'

let server: TestBroker
let broker: Broker
let quarantine: Quarantine
let observer: QueueObserver
let channel: ConfirmChannel

beforeEach(async () => {
  server = await testBroker()
  broker = await openBroker({ url: server.amqpUrl, topology: serviceTopology([]), log: recordingLog(), name: 'test' })
  quarantine = await openQuarantine({ url: server.amqpUrl, name: 'test quarantine' })
  observer = await openQueueObserver(server.amqpUrl)
  channel = observer.channel
})

afterEach(async () => {
  await Promise.all([quarantine.close(), broker.close(), observer.close()])
  await server.close()
})

/** Publishes like another platform. */
async function publishForeign(content: string, options: Options.Publish = {}): Promise<void> {
  channel.publish(EVENTS_EXCHANGE, 'call.status', Buffer.from(content), options)
  await channel.waitForConfirms()
}

/** Moves everything that is not an event to quarantine. Returns the list of received events, which grows. */
async function consumeEvents(): Promise<IncomingMessage[]> {
  const messages: IncomingMessage[] = []
  await broker.consume({
    queue: Queue.fanoutEvents,
    parse: (message) => {
      parseEvent(message.content)
      return message
    },
    handle: async (message) => void messages.push(message),
    concurrency: 10,
    recovered: () => Promise.resolve(),
  })
  return messages
}

const listed = (count: number): Promise<QuarantinedMessage[]> =>
  eventually(async () => {
    const messages = await quarantine.list(100)
    expect(messages).toHaveLength(count)
    return messages
  })

test('messages in quarantine can be listed repeatedly, with the reason and the sender’s properties', async () => {
  await consumeEvents()
  await publishForeign('{"eventId":7}', { messageId: 'm1', type: 'call.status', headers: { traceparent: '00-1' } })
  await listed(1)
  for (let looks = 0; looks < 30; looks++) await listed(1)
  const [message] = await listed(1)
  expect(message).toMatchObject({ messageId: 'm1', type: 'call.status', headers: { traceparent: '00-1' } })
  expect(message?.content.toString()).toBe('{"eventId":7}')
  expect(message?.origin).toMatchObject({
    queue: Queue.fanoutEvents,
    exchange: EVENTS_EXCHANGE,
    routingKey: 'call.status',
    reason: expect.stringContaining('/eventId') as string,
  })
  expect(Date.now() - Date.parse(message?.origin?.at ?? '')).toBeLessThan(60_000)
})

test('a list starts with the oldest and respects the limit', async () => {
  await consumeEvents()
  for (const messageId of ['one', 'two', 'three']) {
    await publishForeign('?', { messageId })
    await listed(['one', 'two', 'three'].indexOf(messageId) + 1)
  }
  await eventually(async () => {
    expect((await quarantine.list(2)).map(({ messageId }) => messageId)).toEqual(['one', 'two'])
  })
})

test('a requeued message arrives at its origin unchanged', async () => {
  let understood = false
  const messages: IncomingMessage[] = []
  await broker.consume({
    queue: Queue.fanoutEvents,
    parse: (message) => {
      if (!understood) throw new Unparsable('of a later version')
      return message
    },
    handle: async (message) => void messages.push(message),
    concurrency: 10,
    recovered: () => Promise.resolve(),
  })
  const content = `{"version": 2.0, "id": "${randomUUID()}"}\n`
  await publishForeign(content, { messageId: 'm1', type: 'call.status', headers: { traceparent: '00-1' } })
  await listed(1)
  understood = true
  await eventually(async () => expect(await quarantine.requeue(10)).toEqual({ requeued: 1, kept: 0 }))
  await eventually(() => expect(messages).toHaveLength(1))
  expect(messages[0]).toMatchObject({
    messageId: 'm1',
    type: 'call.status',
    exchange: EVENTS_EXCHANGE,
    routingKey: 'call.status',
  })
  expect(messages[0]?.headers).toEqual({ traceparent: '00-1' })
  expect(messages[0]?.content.toString()).toBe(content)
  await listed(0)
})

test('a message that returns to quarantine is not requeued twice', async () => {
  await consumeEvents()
  for (let n = 0; n < 120; n++) await publishForeign('?')
  await listed(100)
  await eventually(async () => {
    const { requeued, kept } = await quarantine.requeue(1_000)
    expect([requeued, kept]).toEqual([120, 0])
  })
  await eventually(async () => expect(await quarantine.list(200)).toHaveLength(120))
})

test('a message without an origin, or whose origin is gone, stays', async () => {
  await broker.ready()
  channel.publish(DELIVERY_EXCHANGE, Queue.quarantine, Buffer.from('by hand'), {})
  channel.publish(DELIVERY_EXCHANGE, Queue.quarantine, Buffer.from('from a queue that is gone'), {
    headers: {
      'sh-quarantine-reason': 'x',
      'sh-quarantine-at': '2026-11-20T08:30:00.000Z',
      'sh-quarantine-from': 'delivery.gone',
      'sh-quarantine-exchange': DELIVERY_EXCHANGE,
      'sh-quarantine-routing-key': 'delivery.gone',
    },
  })
  await channel.waitForConfirms()
  expect(await quarantine.requeue(10)).toEqual({ requeued: 0, kept: 2 })
  expect((await listed(2)).map(({ origin }) => origin?.queue)).toEqual([undefined, 'delivery.gone'])
})

test('a message with an expiration does not expire in quarantine', async () => {
  await consumeEvents()
  await publishForeign('?', { expiration: '5000' })
  await listed(1)
  const found = await eventually(async () => {
    const message = await channel.get(Queue.quarantine)
    if (message === false) throw new Error('not back yet')
    return message
  })
  expect(found.properties.expiration).toBeUndefined()
})

test('opening the quarantine does not wait for an unreachable broker', async () => {
  await expect(openQuarantine({ url: 'amqp://user:secret@127.0.0.1:1', name: 'test' })).rejects.toMatchObject({
    name: 'Unavailable',
    message: 'RabbitMQ cannot be reached',
  })
})
