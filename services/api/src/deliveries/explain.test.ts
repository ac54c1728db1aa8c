import { type Attempt, deliveryIdOf, newEventId, newSubscriptionId, type Subscription } from '@switchhook/contracts'
import type { EndpointHealth, ListedDelivery } from '@switchhook/store'
import { explain, type Facts, VERDICTS, type Verdict } from './explain.ts'

const eventId = newEventId()
const subscriptionId = newSubscriptionId()
const deliveryId = deliveryIdOf(eventId, subscriptionId)

const subscription: Subscription = {
  id: subscriptionId,
  tenant: 'acme',
  url: 'https://client.example/now',
  eventTypes: ['call.status'],
  description: null,
  enabled: true,
  createdAt: '2026-11-20T08:00:00.000Z',
}

const healthy: EndpointHealth = { state: 'closed', consecutiveFailures: 0, openUntilMs: null }
const open: EndpointHealth = {
  state: 'open',
  consecutiveFailures: 5,
  openUntilMs: Date.parse('2026-11-20T12:01:00.000Z'),
}
const probing: EndpointHealth = { ...open, state: 'probing' }

const attempt: Attempt = {
  run: 1,
  slot: 0,
  attempt: 1,
  at: '2026-11-20T12:00:00.100Z',
  durationMs: 25.5,
  outcome: 'answered',
  status: 503,
}
const ok: Attempt = { ...attempt, outcome: 'delivered', status: 204 }
const late: Attempt = { ...attempt, attempt: 8, outcome: 'timeout', status: null }

const delivery = (change: Partial<ListedDelivery>): ListedDelivery => ({
  deliveryId,
  subscriptionId,
  eventId,
  eventType: 'call.status',
  tenant: 'acme',
  url: 'https://client.example/then',
  run: 1,
  slot: 0,
  attempt: change.attempts?.at(-1)?.attempt ?? 0,
  firstDueAt: '2026-11-20T12:00:00.000Z',
  state: 'waiting',
  parkedReason: null,
  parkedAt: null,
  nextAttemptAt: null,
  attempts: [],
  ...change,
})

const facts = (change: Partial<Facts>): Facts => ({
  eventType: 'call.status',
  event: { fannedOutAt: '2026-11-20T12:00:00.000Z', subscriptionIds: [subscriptionId] },
  subscriptionId,
  deliveryId,
  subscription,
  health: healthy,
  ...change,
})

/** As `facts`, without what `exactOptionalPropertyTypes` cannot take away. */
function without(name: 'event' | 'subscription', change: Partial<Facts> = {}): Facts {
  const { [name]: _, ...rest } = facts(change)
  return rest
}

const unmatched = { event: { fannedOutAt: '2026-11-20T12:00:00.000Z', subscriptionIds: [] } }
const nextAttemptAt = '2026-11-20T12:00:10.000Z'
const waiting = delivery({ state: 'waiting', attempts: [attempt], nextAttemptAt })
const parkedAt = '2026-11-21T00:36:10.000Z'

const CASES: readonly (readonly [what: string, facts: Facts, verdict: Verdict, said: string])[] = [
  [
    'an acknowledged delivery',
    facts({ delivery: delivery({ state: 'acknowledged', attempts: [ok] }) }),
    'delivered',
    'Delivered: attempt 1, made at 2026-11-20T12:00:00.100Z, was answered with 204.',
  ],
  [
    'an acknowledged delivery of a subscription that was deleted since',
    without('subscription', { delivery: delivery({ state: 'acknowledged', attempts: [ok] }) }),
    'delivered',
    'Delivered: attempt 1, made at 2026-11-20T12:00:00.100Z, was answered with 204.',
  ],
  ['no record yet', facts({}), 'pending', 'Due now: its first attempt is under way, or is about to be made.'],
  [
    'one that was sent again',
    facts({ delivery: delivery({ state: 'pending', run: 2, attempts: [late] }) }),
    'pending',
    'Sent again on request: its next attempt is due now.',
  ],
  [
    'one that waits',
    facts({ delivery: waiting }),
    'waiting',
    'Attempt 1, made at 2026-11-20T12:00:00.100Z, was answered with 503. The next attempt is due at about 2026-11-20T12:00:10.000Z.',
  ],
  [
    'one that waits for an endpoint that is about to be probed',
    facts({ delivery: waiting, health: probing }),
    'waiting',
    'Attempt 1, made at 2026-11-20T12:00:00.100Z, was answered with 503. The next attempt is due at about 2026-11-20T12:00:10.000Z.',
  ],
  [
    'one that was never attempted, after its cool-down',
    facts({ delivery: delivery({ nextAttemptAt }) }),
    'waiting',
    'Nothing was sent yet: the endpoint was in its cool-down. The next attempt is due at about 2026-11-20T12:00:10.000Z.',
  ],
  [
    'one that waits for an endpoint in its cool-down',
    facts({ delivery: waiting, health: open }),
    'cooling-down',
    'The endpoint failed 5 times in a row and is not contacted until 2026-11-20T12:01:00.000Z. This delivery is due again at about 2026-11-20T12:00:10.000Z, within that time: then it waits on, for its next place in the schedule.',
  ],
  [
    'one that only met a cool-down, of a subscription that is disabled',
    facts({
      delivery: delivery({ nextAttemptAt }),
      subscription: { ...subscription, enabled: false },
      health: open,
    }),
    'cooling-down',
    'The endpoint failed 5 times in a row and is not contacted until 2026-11-20T12:01:00.000Z. This delivery is due again at about 2026-11-20T12:00:10.000Z. It will be withdrawn when it is due, unless the subscription, which is disabled, is enabled by then.',
  ],
  [
    'one that met a cool-down which is over, of a subscription that is disabled',
    facts({ delivery: delivery({ nextAttemptAt }), subscription: { ...subscription, enabled: false } }),
    'waiting',
    'Nothing was sent yet: the endpoint was in its cool-down. The next attempt is due at about 2026-11-20T12:00:10.000Z. It will be withdrawn when it is due, unless the subscription, which is disabled, is enabled by then.',
  ],
  [
    'one that only met a cool-down, of a subscription that was deleted',
    without('subscription', { delivery: delivery({ nextAttemptAt }) }),
    'waiting',
    'Nothing was sent yet: the endpoint was in its cool-down. The next attempt is due at about 2026-11-20T12:00:10.000Z. It will be withdrawn when it is due, as its subscription was deleted.',
  ],
  [
    'one that only met a cool-down, of a subscription that no longer asks for its type',
    facts({ delivery: delivery({ nextAttemptAt }), subscription: { ...subscription, eventTypes: ['agent.status'] } }),
    'waiting',
    'Nothing was sent yet: the endpoint was in its cool-down. The next attempt is due at about 2026-11-20T12:00:10.000Z. It will be withdrawn when it is due, unless the subscription asks for call.status again by then.',
  ],
  [
    'one whose type the subscription stopped asking for before its first attempt',
    facts({ subscription: { ...subscription, eventTypes: ['agent.status'] } }),
    'not-subscribed',
    'The subscription no longer asks for call.status: not sent, unless its first attempt was already under way.',
  ],
  [
    'one that has failed, of a subscription that is disabled',
    facts({ delivery: waiting, subscription: { ...subscription, enabled: false } }),
    'waiting',
    'Attempt 1, made at 2026-11-20T12:00:00.100Z, was answered with 503. The next attempt is due at about 2026-11-20T12:00:10.000Z.',
  ],
  [
    'a test that nobody has attempted',
    without('event', { delivery: delivery({ state: 'pending', trial: 'test' }) }),
    'pending',
    'A test that was asked for. Due now: its first attempt is under way, or is about to be made.',
  ],
  [
    'a test that was acknowledged',
    without('event', { delivery: delivery({ state: 'acknowledged', trial: 'test', attempts: [ok] }) }),
    'delivered',
    'A test that was asked for. Delivered: attempt 1, made at 2026-11-20T12:00:00.100Z, was answered with 204.',
  ],
  [
    'no record yet, and an endpoint in its cool-down',
    facts({ health: { ...open, consecutiveFailures: 1 } }),
    'cooling-down',
    'The endpoint failed 1 time in a row and is not contacted until 2026-11-20T12:01:00.000Z.',
  ],
  [
    'one that ran out of its schedule',
    facts({ delivery: delivery({ state: 'parked', parkedReason: 'exhausted', parkedAt, attempts: [attempt, late] }) }),
    'parked',
    'Given up and kept, at 2026-11-21T00:36:10.000Z: the schedule ran out after 8 attempts; attempt 8, made at 2026-11-20T12:00:00.100Z, got no answer (timeout). It can be sent again.',
  ],
  [
    'one that was never sent, because its endpoint was in a cool-down whenever it was due',
    facts({ delivery: delivery({ state: 'parked', parkedReason: 'exhausted', parkedAt }) }),
    'parked',
    'Given up and kept, at 2026-11-21T00:36:10.000Z: the schedule ran out before an attempt could be made. It can be sent again.',
  ],
  [
    'one that was refused',
    facts({
      delivery: delivery({
        state: 'parked',
        parkedReason: 'rejected',
        parkedAt,
        attempts: [{ ...attempt, status: 404 }],
      }),
      health: open,
    }),
    'parked',
    'Given up and kept, at 2026-11-21T00:36:10.000Z: attempt 1, made at 2026-11-20T12:00:00.100Z, was answered with 404, which is not tried again. It can be sent again.',
  ],
  [
    'one that is parked, of a subscription that is disabled',
    facts({
      delivery: delivery({ state: 'parked', parkedReason: 'exhausted', parkedAt, attempts: [late] }),
      subscription: { ...subscription, enabled: false },
    }),
    'parked',
    'Given up and kept, at 2026-11-21T00:36:10.000Z: the schedule ran out after 8 attempts; attempt 8, made at 2026-11-20T12:00:00.100Z, got no answer (timeout). It can be sent again once the subscription, which is disabled, is enabled.',
  ],
  [
    'one that is parked, of a subscription that has gone',
    without('subscription', {
      delivery: delivery({ state: 'parked', parkedReason: 'exhausted', parkedAt, attempts: [late] }),
    }),
    'parked',
    'Given up and kept, at 2026-11-21T00:36:10.000Z: the schedule ran out after 8 attempts; attempt 8, made at 2026-11-20T12:00:00.100Z, got no answer (timeout). Its subscription was deleted, so it cannot be sent again.',
  ],
  [
    'one that is parked without its body, which the limit on parked deliveries took',
    facts({
      delivery: delivery({ state: 'parked', parkedReason: 'rejected', parkedAt, attempts: [attempt] }),
      isBodyDropped: true,
    }),
    'parked',
    'Given up and kept, at 2026-11-21T00:36:10.000Z: attempt 1, made at 2026-11-20T12:00:00.100Z, was answered with 503, which is not tried again. Its body is no longer kept, so it cannot be sent again.',
  ],
  [
    'one that was withdrawn',
    without('subscription', { delivery: delivery({ state: 'withdrawn' }) }),
    'withdrawn',
    'Not sent: before the first attempt the subscription was deleted or disabled, or stopped asking for call.status.',
  ],
  [
    'a subscription to something else',
    facts({ ...unmatched, subscription: { ...subscription, eventTypes: ['agent.status'] } }),
    'not-subscribed',
    'Not sent: the subscription asks for agent.status, not for call.status.',
  ],
  [
    'a disabled subscription',
    facts({ ...unmatched, subscription: { ...subscription, enabled: false } }),
    'disabled',
    'Not sent: the subscription is disabled.',
  ],
  [
    'one that was disabled before its first attempt',
    facts({ subscription: { ...subscription, enabled: false } }),
    'disabled',
    'The subscription is disabled: not sent, unless its first attempt was already under way.',
  ],
  [
    'a subscription that came later',
    facts({ ...unmatched, subscription: { ...subscription, createdAt: '2026-11-20T12:00:00.001Z', enabled: false } }),
    'created-later',
    'Not sent: the subscription was created after the event was taken up, at 2026-11-20T12:00:00.001Z.',
  ],
  [
    'a subscription that would get it now',
    facts(unmatched),
    'changed-later',
    'Not sent: when the event was taken up, at 2026-11-20T12:00:00.000Z, the subscription was disabled or did not ask for call.status.',
  ],
  [
    'one that was deleted before its first attempt',
    without('subscription'),
    'deleted',
    'The subscription was deleted: not sent, unless its first attempt was already under way.',
  ],
  [
    'an event that is forgotten, and a subscription that asks for its type',
    without('event'),
    'unknown',
    'Nothing is remembered of it: it was delivered or withdrawn long ago, or was never meant for it.',
  ],
  [
    'an event that is forgotten, and a subscription to something else',
    without('event', { subscription: { ...subscription, eventTypes: ['agent.status'] } }),
    'not-subscribed',
    'Not sent: the subscription asks for agent.status, not for call.status.',
  ],
]

test.each(CASES)('%s', (_what, known, verdict, explanation) => {
  expect(explain(known)).toMatchObject({ verdict, explanation, subscriptionId })
})

test('every verdict is in the table', () => {
  expect(new Set(CASES.map(([, , verdict]) => verdict))).toEqual(new Set(VERDICTS))
})

test('what is known of the delivery is told beside the sentence', () => {
  const parked = delivery({ state: 'parked', parkedReason: 'exhausted', parkedAt, attempts: [attempt, late] })
  expect(explain(facts({ delivery: parked }))).toEqual({
    subscriptionId,
    url: 'https://client.example/then',
    verdict: 'parked',
    explanation: expect.any(String) as string,
    deliveryId,
    attemptCount: 8,
    lastAttempt: late,
    deliveredAt: null,
    nextAttemptAt: null,
    coolingUntil: null,
    parkedAt,
    parkedReason: 'exhausted',
  })
  expect(explain(facts({ delivery: delivery({ state: 'acknowledged', attempts: [ok] }) })).deliveredAt).toBe(
    '2026-11-20T12:00:00.125Z',
  )
  expect(explain(facts({ delivery: waiting, health: open }))).toMatchObject({
    coolingUntil: '2026-11-20T12:01:00.000Z',
    nextAttemptAt,
  })
  expect(explain(facts(unmatched))).toMatchObject({ deliveryId: null, url: 'https://client.example/now' })
  expect(explain(without('subscription'))).toMatchObject({ deliveryId, url: null })
})

test('a state that only a newer worker knows is named, and is no error', () => {
  const newer = { ...delivery({}), state: 'quarantined' } as unknown as ListedDelivery
  expect(explain(facts({ delivery: newer }))).toMatchObject({
    verdict: 'pending',
    explanation: expect.stringContaining('"quarantined"') as string,
  })
})
