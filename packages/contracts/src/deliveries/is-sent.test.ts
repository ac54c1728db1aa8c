import { type EventType, envelopesOf } from '../events/event.ts'
import { deliveryIdOf, newEventId, newSubscriptionId } from '../ids.ts'
import type { Delivery } from './delivery.ts'
import { isExpired, occurredAtMsOf } from './is-sent.ts'

const occurredAt = '2026-11-20T17:06:01.173Z'
const occurredAtMs = Date.parse(occurredAt)
const tenSeconds = { expireAfterSeconds: 10 }

function deliveryOf(change: Partial<Delivery> = {}, data: Readonly<Record<string, unknown>> = { state: 2 }): Delivery {
  const [eventId, subscriptionId] = [newEventId(), newSubscriptionId()]
  const eventType = (change.eventType ?? 'call.status') as EventType
  const deliveryId = deliveryIdOf(eventId, subscriptionId)
  return {
    deliveryId,
    subscriptionId,
    eventId,
    eventType,
    tenant: 'acme',
    url: 'https://client.example/hooks',
    run: 1,
    slot: 0,
    attempt: 0,
    // Fan-out took the event an hour later.
    firstDueAt: new Date(occurredAtMs + 3_600_000).toISOString(),
    body: envelopesOf({ eventType, occurredAt, tenant: 'acme' }, JSON.stringify(data))(deliveryId),
    ...change,
  }
}

describe('a delivery expires', () => {
  test('once its event is older than the subscription allows, not before', () => {
    expect(isExpired(tenSeconds, deliveryOf(), occurredAtMs + 10_000)).toBe(false)
    expect(isExpired(tenSeconds, deliveryOf(), occurredAtMs + 10_001)).toBe(true)
    expect(isExpired({}, deliveryOf(), occurredAtMs + 86_400_000)).toBe(false)
  })

  test.each<[string, boolean, Delivery]>([
    ['a retry', true, deliveryOf({ slot: 3, attempt: 2 })],
    ['an event of an agent', true, deliveryOf({ eventType: 'agent.status' }, { statusCode: 50 })],
    ['an agent event with the number of an ended call', true, deliveryOf({ eventType: 'agent.status' }, { state: 7 })],
    ['an envelope whose data mention an end', true, deliveryOf({}, { state: 3, note: '"state":7' })],
    ['the end of a call', false, deliveryOf({}, { state: 7 })],
    ['a notice', false, deliveryOf({ eventType: 'webhook.endpoint.failing' })],
    ['a delivery that was sent again', false, deliveryOf({ run: 2 })],
    ['a delivery that was sent again automatically', true, deliveryOf({ run: 2, isAutomatic: true })],
    ['an event that the tenant asked for', false, deliveryOf({ isRequested: true })],
    ['a test', false, deliveryOf({ trial: 'test' })],
    ['a body without a time', false, deliveryOf({ body: Buffer.from('{}') })],
  ])('%s: %s', (_name, expected, delivery) => {
    expect(isExpired(tenSeconds, delivery, occurredAtMs + 3_600_000)).toBe(expected)
  })
})

describe('the time of an event, read from the body of its delivery', () => {
  test('is the envelope’s, not that of similar text in its data', () => {
    const data = { occurredAt: '1999-01-01T00:00:00.000Z', text: '"occurredAt":"1999-01-01T00:00:00.000Z"' }
    const eventId = newEventId()
    const envelope = envelopesOf({ eventType: 'call.status', occurredAt, tenant: 'jörg "x"' }, JSON.stringify(data))
    expect(occurredAtMsOf(envelope(deliveryIdOf(eventId, newSubscriptionId())))).toBe(occurredAtMs)
  })

  test('is not a number for a body that is not an envelope', () => {
    expect(occurredAtMsOf(Buffer.from('{"deliveryId":1}'))).toBeNaN()
    expect(occurredAtMsOf(Buffer.alloc(0))).toBeNaN()
  })
})
