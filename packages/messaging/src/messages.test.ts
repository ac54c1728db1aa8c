import { newTraceparent, parseDelivery, parseEvent } from '@switchhook/contracts'
import { deliveryMessage, eventMessage } from './messages.ts'
import { sampleDelivery, sampleEvent } from './test-support/samples.ts'

test('an event travels under its type and id', () => {
  const event = sampleEvent()
  const message = eventMessage(event)
  expect(message).toMatchObject({
    exchange: 'switchhook.events',
    routingKey: 'call.status',
    properties: { contentType: 'application/json', messageId: event.eventId, type: 'call.status' },
  })
  expect(parseEvent(message.content)).toEqual(event)
})

test('the trace context of an event is a header, and no part of its content', () => {
  const [event, traceparent] = [sampleEvent(), newTraceparent()]
  const message = eventMessage({ ...event, traceparent })
  expect(message.properties.headers).toEqual({ traceparent })
  expect(message.content).toEqual(eventMessage(event).content)
  expect(eventMessage(event).properties.headers).toBeUndefined()
})

test('a delivery is its body and headers of our own', () => {
  const delivery = sampleDelivery({ slot: 3, attempt: 2 })
  const { exchange, routingKey, content, properties } = deliveryMessage(delivery, 'delivery.wait.1000')
  expect([exchange, routingKey]).toEqual(['switchhook.delivery', 'delivery.wait.1000'])
  expect(content).toBe(delivery.body)
  expect(parseDelivery(content, properties.headers)).toEqual(delivery)
})
