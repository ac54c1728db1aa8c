import {
  type Delivery,
  deliveryIdOf,
  EVENT_TYPES,
  firstDeliveriesOf,
  newEventId,
  newSubscriptionId,
  newTraceparent,
  type PlatformEvent,
  parseEventId,
  parseSubscriptionId,
  type Subscription,
} from '@switchhook/contracts'
import { aSubscription } from '@switchhook/testkit'
import * as fc from 'fast-check'
import { receiversOf } from './handle-event.ts'

const NOW = '2026-11-20T08:30:00.000Z'

const tenant = fc.constantFrom(null, 'acme', 'globex')
const eventType = fc.constantFrom(...EVENT_TYPES)

const anyEvent: fc.Arbitrary<PlatformEvent> = fc.record({
  eventId: fc.uuid().map(parseEventId),
  eventType,
  occurredAt: fc.constant('2026-11-20T08:29:59.500Z'),
  tenant,
  data: fc.dictionary(fc.string(), fc.jsonValue()),
})

const anySubscription: fc.Arbitrary<Subscription> = fc.record({
  id: fc.uuid().map(parseSubscriptionId),
  tenant,
  url: fc.webUrl(),
  eventTypes: fc.uniqueArray(eventType, { minLength: 1 }),
  description: fc.constant(null),
  enabled: fc.boolean(),
  createdAt: fc.constant(NOW),
})

const subscriptions = fc.uniqueArray(anySubscription, { selector: ({ id }) => id, maxLength: 20 })

const event: PlatformEvent = {
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T08:29:59.500Z',
  tenant: 'acme',
  data: { state: 3, cli: '+15550100' },
}

const subscription = aSubscription({ createdAt: NOW })

const fanOut = (event: PlatformEvent, all: readonly Subscription[], at: string): Delivery[] =>
  receiversOf(event, all).map(firstDeliveriesOf(event, at, JSON.stringify(event.data)))

test('a delivery starts its schedule now, and its body is the envelope of the specification', () => {
  const [delivery, ...others] = fanOut(event, [subscription], NOW)
  expect(others).toEqual([])
  const deliveryId = deliveryIdOf(event.eventId, subscription.id)
  expect(delivery).toEqual({
    deliveryId,
    subscriptionId: subscription.id,
    eventId: event.eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url: 'https://client.example/hook',
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: NOW,
    body: expect.any(Buffer) as Buffer,
  })
  expect(JSON.parse(delivery?.body.toString() ?? '')).toEqual({
    deliveryId,
    eventType: 'call.status',
    occurredAt: '2026-11-20T08:29:59.500Z',
    tenant: 'acme',
    data: { state: 3, cli: '+15550100' },
  })
})

test('every delivery continues the trace of its event', () => {
  const traceparent = newTraceparent()
  const another = { ...subscription, id: newSubscriptionId() }
  const deliveries = fanOut({ ...event, traceparent }, [subscription, another], NOW)
  expect(deliveries.map((delivery) => delivery.traceparent)).toEqual([traceparent, traceparent])
  expect(deliveries.map(({ body }) => body)).toEqual(
    fanOut(event, [subscription, another], NOW).map(({ body }) => body),
  )
})

test.each<[string, Partial<Subscription>, number]>([
  ['an enabled subscription to the type, of the same tenant', {}, 1],
  ['a subscription to several types', { eventTypes: ['agent.status', 'call.status'] }, 1],
  ['a disabled subscription', { enabled: false }, 0],
  ['a subscription to another type', { eventTypes: ['agent.status'] }, 0],
  ['a subscription of another tenant', { tenant: 'globex' }, 0],
  ['a subscription of the installation itself', { tenant: null }, 0],
])('%s', (_name, change, deliveries) => {
  expect(fanOut(event, [{ ...subscription, ...change }], NOW)).toHaveLength(deliveries)
})

test('exactly the enabled subscriptions of the event’s tenant to its type get one delivery each', () => {
  fc.assert(
    fc.property(anyEvent, subscriptions, (event, all) => {
      const expected = all.filter(
        ({ enabled, tenant, eventTypes }) => enabled && tenant === event.tenant && eventTypes.includes(event.eventType),
      )
      const deliveries = fanOut(event, all, NOW)
      expect(deliveries.map(({ subscriptionId, url }) => [subscriptionId, url])).toEqual(
        expected.map(({ id, url }) => [id, url]),
      )
      expect(new Set(deliveries.map(({ deliveryId }) => deliveryId)).size).toBe(expected.length)
    }),
  )
})

test('fanning out again, later, gives the same ids and the same bytes', () => {
  fc.assert(
    fc.property(anyEvent, subscriptions, (event, all) => {
      const again = fanOut(event, all, '2026-11-21T00:00:00.000Z').map((delivery) => ({ ...delivery, firstDueAt: NOW }))
      expect(again).toEqual(fanOut(event, all, NOW))
    }),
  )
})
