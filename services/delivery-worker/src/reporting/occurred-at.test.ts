import { deliveryIdOf, envelopesOf, newEventId, newSubscriptionId } from '@switchhook/contracts'
import { occurredAtMsOf } from './occurred-at.ts'

const occurredAt = '2026-11-20T17:06:01.173Z'
const eventId = newEventId()

test('it is what the envelope says, whatever else the envelope holds', () => {
  const data = { occurredAt: '1999-01-01T00:00:00.000Z', text: '"occurredAt":"1999-01-01T00:00:00.000Z"' }
  const envelope = envelopesOf({ eventId, eventType: 'call.status', occurredAt, tenant: 'jörg "x"', data })
  expect(occurredAtMsOf(envelope(deliveryIdOf(eventId, newSubscriptionId())))).toBe(Date.parse(occurredAt))
})

test('of a body that is no envelope nothing is known', () => {
  expect(occurredAtMsOf(Buffer.from('{"deliveryId":1}'))).toBeNaN()
  expect(occurredAtMsOf(Buffer.alloc(0))).toBeNaN()
})
