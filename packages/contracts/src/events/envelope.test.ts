import * as fc from 'fast-check'
import { deliveryIdOf, parseEventId, parseSubscriptionId } from '../ids.ts'
import { envelopesOf, type PlatformEvent } from './event.ts'

const event: PlatformEvent = {
  eventId: parseEventId('2ed6657d-e927-568b-95e1-2665a8aea6a2'),
  eventType: 'call.status',
  occurredAt: '2026-11-20T12:00:00.000Z',
  tenant: null,
  data: { state: 3, name: 'Zoë "\u2028"', nested: { list: [], none: null } },
}
const id = deliveryIdOf(event.eventId, parseSubscriptionId('6ba7b810-9dad-11d1-80b4-00c04fd430c8'))

test('the envelope has exactly the fields of the specification', () => {
  const { eventId: _eventId, ...shared } = event
  expect(JSON.parse(envelopesOf(event, JSON.stringify(event.data))(id).toString())).toEqual({
    deliveryId: id,
    ...shared,
  })
})

test('the bytes are the plain JSON in UTF-8, for any data', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.option(fc.string()), (data, tenant) => {
      const { eventType, occurredAt } = event
      const expected = Buffer.from(JSON.stringify({ deliveryId: id, eventType, occurredAt, tenant, data }))
      expect(envelopesOf({ ...event, tenant }, JSON.stringify(data))(id).equals(expected)).toBe(true)
    }),
  )
})

test('deliveries of one event differ only in their ids', () => {
  const bodyOf = envelopesOf(event, JSON.stringify(event.data))
  const other = deliveryIdOf(event.eventId, parseSubscriptionId('6ba7b811-9dad-11d1-80b4-00c04fd430c8'))
  expect(bodyOf(other).toString()).toBe(bodyOf(id).toString().replace(id, other))
  expect(bodyOf(id).equals(bodyOf(id))).toBe(true)
})
