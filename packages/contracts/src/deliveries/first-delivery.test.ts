import * as fc from 'fast-check'
import { EVENT_TYPES, type PlatformEvent } from '../events/event.ts'
import { deliveryIdOf, newEventId, newSubscriptionId, parseEventId, parseSubscriptionId } from '../ids.ts'
import { newTraceparent } from '../trace-context.ts'
import { type Delivery, firstDeliveriesOf } from './delivery.ts'

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

type Receiver = Parameters<ReturnType<typeof firstDeliveriesOf>>[0]

const anySubscription: fc.Arbitrary<Receiver> = fc.record({ id: fc.uuid().map(parseSubscriptionId), url: fc.webUrl() })

const subscriptions = fc.uniqueArray(anySubscription, { selector: ({ id }) => id, maxLength: 20 })

const event: PlatformEvent = {
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T08:29:59.500Z',
  tenant: 'acme',
  data: { state: 3, cli: '+15550100' },
}

const subscription: Receiver = { id: newSubscriptionId(), url: 'https://client.example/hook' }

const fanOut = (event: PlatformEvent, all: readonly Receiver[], at: string): Delivery[] =>
  all.map(firstDeliveriesOf(event, at, JSON.stringify(event.data)))

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

test('fanning out again, later, gives the same ids and the same bytes', () => {
  fc.assert(
    fc.property(anyEvent, subscriptions, (event, all) => {
      const again = fanOut(event, all, '2026-11-21T00:00:00.000Z').map((delivery) => ({ ...delivery, firstDueAt: NOW }))
      expect(again).toEqual(fanOut(event, all, NOW))
    }),
  )
})
