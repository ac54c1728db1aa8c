import { newEventId, newTraceparent, type PlatformEvent, serialiseEvent, Unparsable } from '@switchhook/contracts'
import { parseEventMessage } from './parse-event-message.ts'

const event: PlatformEvent = {
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T08:30:00.000Z',
  tenant: null,
  data: {},
}

test('an event that was routed by its type is understood', () => {
  expect(parseEventMessage({ content: serialiseEvent(event), routingKey: 'call.status', headers: {} })).toEqual(event)
})

test('a trace context comes from the headers alone, and one that cannot be read is left out', () => {
  const traceparent = newTraceparent()
  const content = Buffer.from(JSON.stringify({ ...event, traceparent: 'in the content' }))
  const parse = (headers: Record<string, unknown>) => parseEventMessage({ content, routingKey: 'call.status', headers })
  expect(parse({ traceparent })).toEqual({ ...event, traceparent })
  expect(parse({ traceparent: '00-1' })).toEqual(event)
  expect(parse({ traceparent: 7 })).toEqual(event)
})

test.each<[string, Buffer, string]>([
  ['routed as another type', serialiseEvent(event), 'agent.status'],
  ['routed as something unknown', serialiseEvent(event), 'fanout.events'],
  ['not JSON', Buffer.from('<event/>'), 'call.status'],
  ['of an unknown type', Buffer.from(JSON.stringify({ ...event, eventType: 'call.dreamt' })), 'call.dreamt'],
  ['without an id', Buffer.from(JSON.stringify({ ...event, eventId: undefined })), 'call.status'],
])('what is %s can never be understood', (_name, content, routingKey) => {
  expect(() => parseEventMessage({ content, routingKey, headers: {} })).toThrow(Unparsable)
})
