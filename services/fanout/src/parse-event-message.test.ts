import { newEventId, type PlatformEvent, serialiseEvent, Unparsable } from '@switchhook/contracts'
import { parseEventMessage } from './parse-event-message.ts'

const event: PlatformEvent = {
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T08:30:00.000Z',
  tenant: null,
  data: {},
}

test('an event that was routed by its type is understood', () => {
  expect(parseEventMessage({ content: serialiseEvent(event), routingKey: 'call.status' })).toEqual(event)
})

test.each<[string, Buffer, string]>([
  ['routed as another type', serialiseEvent(event), 'agent.status'],
  ['routed as something unknown', serialiseEvent(event), 'fanout.events'],
  ['not JSON', Buffer.from('<event/>'), 'call.status'],
  ['of an unknown type', Buffer.from(JSON.stringify({ ...event, eventType: 'call.dreamt' })), 'call.dreamt'],
  ['without an id', Buffer.from(JSON.stringify({ ...event, eventId: undefined })), 'call.status'],
])('what is %s can never be understood', (_name, content, routingKey) => {
  expect(() => parseEventMessage({ content, routingKey })).toThrow(Unparsable)
})
