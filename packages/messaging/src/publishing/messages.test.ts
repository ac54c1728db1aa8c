import { randomUUID } from 'node:crypto'
import { type InstallationId, newTraceparent, parseDelivery, parseEvent, readInstallation } from '@switchhook/contracts'
import { sampleDelivery, sampleEvent } from '../testing/samples.ts'
import { copyOf, deliveryMessage, eventMessage, jsonMessage, markedBy } from './messages.ts'

test('an event message has the event’s type as routing key, and its id', () => {
  const event = sampleEvent()
  const message = eventMessage(event)
  expect(message).toMatchObject({
    exchange: 'switchhook.fanout',
    routingKey: 'call.status',
    properties: { contentType: 'application/json', messageId: event.eventId, type: 'call.status' },
  })
  expect(parseEvent(message.content)).toEqual(event)
})

test('the trace context of an event is a header, not part of its content', () => {
  const [event, traceparent] = [sampleEvent(), newTraceparent()]
  const message = eventMessage({ ...event, traceparent })
  expect(message.properties.headers).toEqual({ traceparent })
  expect(message.content).toEqual(eventMessage(event).content)
  expect(eventMessage(event).properties.headers).toEqual({})
})

test('the revision of the subscriptions is a header of an event, but not of its copy', () => {
  const message = eventMessage({ ...sampleEvent(), revision: 'r1' })
  expect(message.properties.headers).toEqual({ 'sh-revision': 'r1' })
  expect(copyOf(message).properties.headers).toEqual({ 'switchhook-copy': true })
})

test('a copy differs from its original, of whatever shard, only by the exchange and one header', () => {
  const original = eventMessage({ ...sampleEvent(), traceparent: newTraceparent() }, 'switchhook.fanout.2')
  const copy = copyOf(original)
  const { traceparent } = original.properties.headers ?? {}
  expect(copy).toEqual({
    ...original,
    exchange: 'switchhook.events',
    properties: { ...original.properties, headers: { traceparent, 'switchhook-copy': true } },
  })
})

test('a delivery message is the body, with the delivery in headers', () => {
  const delivery = sampleDelivery({ slot: 3, attempt: 2 })
  const { exchange, routingKey, content, properties } = deliveryMessage(delivery, 'delivery.wait.1000')
  expect([exchange, routingKey]).toEqual(['switchhook.delivery', 'delivery.wait.1000'])
  expect(content).toBe(delivery.body)
  expect(parseDelivery(content, properties.headers)).toEqual(delivery)
})

test('events, deliveries and receiver checks carry the id of the installation that published them', () => {
  const installation = randomUUID() as InstallationId
  const check = {
    checkId: randomUUID(),
    subscriptionId: sampleDelivery().subscriptionId,
    tenant: 'acme',
    eventType: 'call.status',
    expiresAt: '2026-11-20T17:06:01.173Z',
  } as const
  const delivery = sampleDelivery()
  const marked = [
    eventMessage(sampleEvent()),
    deliveryMessage(delivery, 'delivery.due'),
    jsonMessage('delivery.checks', check, check.checkId, 'receiver.check'),
  ].map((message) => markedBy(installation, message))
  const ids = marked.map(({ properties }) => readInstallation(properties.headers?.['sh-installation']))
  expect(ids).toEqual([installation, installation, installation])
  expect(parseDelivery(delivery.body, marked[1]?.properties.headers)).toEqual(delivery)
  const unmarked = [
    eventMessage(sampleEvent()),
    deliveryMessage(delivery, 'delivery.due'),
    jsonMessage('delivery.checks', check, check.checkId, 'receiver.check'),
  ]
  for (const { properties } of unmarked) expect(properties.headers).not.toHaveProperty('sh-installation')
})
