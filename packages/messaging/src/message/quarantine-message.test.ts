import type { Message } from 'amqplib'
import { originOf, releasedMessage } from '../quarantine/quarantine.ts'
import { type Origin, quarantineMessage } from './quarantine-message.ts'

const origin: Origin = {
  reason: '/eventId is required',
  queue: 'fanout.events',
  exchange: 'switchhook.events',
  routingKey: 'call.status',
  at: '2026-11-20T08:30:00.000Z',
}

function message(properties: Partial<Message['properties']>): Message {
  return {
    content: Buffer.from('not { json'),
    fields: { deliveryTag: 1, redelivered: false, exchange: 'switchhook.events', routingKey: 'call.status' },
    properties: properties as Message['properties'],
  }
}

test('a released message has its original content, properties and route', () => {
  const sent = message({
    messageId: 'm1',
    type: 'call.status',
    contentType: 'application/json',
    headers: { traceparent: '00-1', n: 1 },
  })
  const kept = quarantineMessage(sent, origin)
  expect(kept).toMatchObject({ exchange: 'switchhook.delivery', routingKey: 'quarantine', content: sent.content })

  const found = message(kept.properties)
  expect(originOf(found)).toEqual(origin)
  expect(releasedMessage(found, origin)).toEqual({
    exchange: 'switchhook.events',
    routingKey: 'call.status',
    content: sent.content,
    properties: {
      messageId: 'm1',
      type: 'call.status',
      contentType: 'application/json',
      headers: { traceparent: '00-1', n: 1 },
    },
  })
})

test('expiry, CC and BCC, user and the broker’s headers are not kept', () => {
  const { properties } = quarantineMessage(
    message({
      expiration: '1000',
      userId: 'guest',
      priority: 9,
      replyTo: 'q',
      headers: {
        CC: ['a'],
        BCC: ['b'],
        'x-death': [],
        'x-first-death-queue': 'q',
        'x-last-death-reason': 'expired',
        'x-delivery-count': 3,
        'x-acquired-count': 4,
        'x-own': 'stays',
      },
    }),
    origin,
  )
  expect(Object.keys(properties)).toEqual(['headers'])
  expect(Object.keys(properties.headers as object).filter((name) => !name.startsWith('sh-quarantine-'))).toEqual([
    'x-own',
  ])
})

test('a second quarantine replaces the headers of the first', () => {
  const once = quarantineMessage(message({}), origin)
  const twice = quarantineMessage(message(once.properties), {
    ...origin,
    reason: 'still wrong',
  })
  expect(originOf(message(twice.properties))?.reason).toBe('still wrong')
})

const death = {
  reason: 'delivery_limit',
  queue: 'delivery.due',
  exchange: 'switchhook.delivery',
  'routing-keys': ['delivery.due'],
  time: { '!': 'timestamp', value: 1_795_163_400 },
}

test('the origin of a dead letter is its newest death', () => {
  const headers = { 'x-death': [death, { ...death, queue: 'delivery.wait.1000', reason: 'expired' }] }
  expect(originOf(message({ headers } as unknown as Message['properties']))).toEqual({
    reason: 'delivery_limit',
    queue: 'delivery.due',
    exchange: 'switchhook.delivery',
    routingKey: 'delivery.due',
    at: '2026-11-20T08:30:00.000Z',
  })
})

test.each<[string, Record<string, unknown> | undefined]>([
  ['without headers', undefined],
  ['with an incomplete origin', { 'sh-quarantine-reason': 'x' }],
  ['with invalid deaths', { 'x-death': 'x' }],
  ['with an empty list of deaths', { 'x-death': [] }],
  ['with a death without a route', { 'x-death': [{ ...death, 'routing-keys': [] }] }],
])('a message %s has no origin', (_case, headers) => {
  expect(originOf(message({ headers }))).toBeUndefined()
})

test('headers that are too large to be published again are dropped and counted; content and origin stay', () => {
  const kept = quarantineMessage(message({ headers: { a: 'x'.repeat(65_000), b: 1 } }), origin)
  expect(kept.properties.headers).toMatchObject({ 'sh-quarantine-dropped-headers': 2 })
  expect(JSON.stringify(kept.properties.headers).length).toBeLessThan(1_000)
  expect(originOf(message(kept.properties))).toEqual(origin)
})
