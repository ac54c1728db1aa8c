import * as fc from 'fast-check'
import {
  deliveryIdOf,
  eventMarkIn,
  eventMarkOf,
  isGuid,
  newCallId,
  newEventId,
  newSubscriptionId,
  noticeEventIdOf,
  parkedEventIdOf,
  parseCallId,
  parseCommandId,
  parseDeliveryId,
  parseEventId,
  parseSubscriptionId,
  uuidV5,
} from './ids.ts'

const guid = fc.uuid()
const eventId = guid.map(parseEventId)
const subscriptionId = guid.map(parseSubscriptionId)

test('the name-based example of RFC 9562, appendix A.4', () => {
  const dnsNamespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
  expect(uuidV5(dnsNamespace, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2')
})

test('a delivery id is a GUID of version 8, the same for the same event and subscription, and leads to its event', () => {
  fc.assert(
    fc.property(eventId, subscriptionId, (event, subscription) => {
      const id = deliveryIdOf(event, subscription)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(deliveryIdOf(event, subscription)).toBe(id)
      expect(eventMarkIn(id)).toBe(eventMarkOf(event))
    }),
  )
})

test('deliveries of different events or subscriptions have different ids', () => {
  fc.assert(
    fc.property(
      eventId,
      eventId,
      subscriptionId,
      subscriptionId,
      (event, otherEvent, subscription, otherSubscription) => {
        fc.pre(event !== otherEvent && subscription !== otherSubscription)
        const ids = [event, otherEvent].flatMap((e) => [subscription, otherSubscription].map((s) => deliveryIdOf(e, s)))
        expect(new Set(ids).size).toBe(4)
      },
    ),
  )
})

test('new ids are unique GUIDs', () => {
  const ids = Array.from({ length: 100 }, () => [newEventId(), newSubscriptionId(), newCallId()]).flat()
  expect(new Set<string>(ids).size).toBe(300)
  expect(ids.every(isGuid)).toBe(true)
})

test('a GUID in upper case equals the one in lower case', () => {
  fc.assert(
    fc.property(guid, (id) => {
      expect(parseEventId(id.toUpperCase())).toBe(id)
      expect(isGuid(id.toUpperCase())).toBe(true)
    }),
  )
})

const parsers = [
  ['event id', parseEventId],
  ['delivery id', parseDeliveryId],
  ['subscription id', parseSubscriptionId],
  ['call id', parseCallId],
  ['command id', parseCommandId],
] as const

test.each(parsers)('a %s that is not a GUID is rejected, and the error does not quote it', (kind, parse) => {
  const good = '2ed6657d-e927-568b-95e1-2665a8aea6a2'
  const bad = [
    '',
    'secret',
    `${good} `,
    ` ${good}`,
    `${good}\n`,
    `{${good}}`,
    good.replaceAll('-', ''),
    good.replace('2', 'g'),
  ]
  for (const value of bad) {
    expect(() => parse(value)).toThrow(new TypeError(`not a ${kind}`))
    expect(isGuid(value)).toBe(false)
  }
  expect(parse(good)).toBe(good)
})

test.each([undefined, null, 5, {}, ['2ed6657d-e927-568b-95e1-2665a8aea6a2']])('%j is not a GUID', (value) => {
  expect(isGuid(value)).toBe(false)
})

test('the notice of one outage or run always has the same id; different outages or runs have different ids', () => {
  const subscription = newSubscriptionId()
  const delivery = deliveryIdOf(newEventId(), subscription)
  const ids = [
    noticeEventIdOf(subscription, 'webhook.endpoint.failing', 1),
    noticeEventIdOf(subscription, 'webhook.endpoint.failing', 2),
    noticeEventIdOf(subscription, 'webhook.endpoint.recovered', 1),
    noticeEventIdOf(newSubscriptionId(), 'webhook.endpoint.failing', 1),
    parkedEventIdOf(delivery, 1),
    parkedEventIdOf(delivery, 2),
  ]
  expect(new Set(ids).size).toBe(ids.length)
  expect(noticeEventIdOf(subscription, 'webhook.endpoint.failing', 1)).toBe(ids[0])
  expect(parkedEventIdOf(delivery, 1)).toBe(ids[4])
})
