import {
  type Attempt,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  PARKED_CAUSES,
  PARKED_REASONS,
} from '@switchhook/contracts'
import type { EndpointHealth, ListedDelivery } from '@switchhook/store'
import { aSubscription } from '@switchhook/testkit'
import { explain, VERDICTS, type Verdict } from './explain.ts'
import type { Facts } from './explain-sentences.ts'

const eventId = newEventId()
const subscriptionId = newSubscriptionId()
const deliveryId = deliveryIdOf(eventId, subscriptionId)

const subscription = aSubscription({
  id: subscriptionId,
  url: 'https://client.example/now',
  createdAt: '2026-11-20T08:00:00.000Z',
})

const filtered = { ...subscription, filter: { 'call.status': { state: [3, 7] } } }

const healthy: EndpointHealth = { state: 'closed', consecutiveFailures: 0, openUntilMs: null, recentHangs: 0 }
const open: EndpointHealth = {
  state: 'open',
  consecutiveFailures: 5,
  openUntilMs: Date.parse('2026-11-20T12:01:00.000Z'),
  recentHangs: 0,
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
  nowMs: Date.parse('2026-11-20T12:00:01.000Z'),
  ...change,
})

/** `facts` without one optional field, which `exactOptionalPropertyTypes` does not allow to override with undefined. */
function without(name: 'event' | 'subscription', change: Partial<Facts> = {}): Facts {
  const { [name]: _, ...rest } = facts(change)
  return rest
}

const unmatched = { event: { fannedOutAt: '2026-11-20T12:00:00.000Z', subscriptionIds: [] } }
const nextAttemptAt = '2026-11-20T12:00:10.000Z'
const waiting = delivery({ state: 'waiting', attempts: [attempt], nextAttemptAt })
const held = delivery({ state: 'held', attempts: [attempt], nextAttemptAt: null })
const parkedAt = '2026-11-21T00:36:10.000Z'
const rejected = delivery({ state: 'parked', parkedReason: 'rejected', parkedAt, attempts: [attempt] })

const CASES: readonly (readonly [name: string, facts: Facts, verdict: Verdict, explanation: string])[] = [
  [
    'an acknowledged delivery',
    facts({ delivery: delivery({ state: 'acknowledged', attempts: [ok] }) }),
    'delivered',
    'Delivered: attempt 1 at 2026-11-20T12:00:00.100Z was answered with 204.',
  ],
  [
    'an acknowledged delivery of a subscription that was deleted afterwards',
    without('subscription', { delivery: delivery({ state: 'acknowledged', attempts: [ok] }) }),
    'delivered',
    'Delivered: attempt 1 at 2026-11-20T12:00:00.100Z was answered with 204.',
  ],
  [
    'a delivery that expired before its first attempt',
    facts({ delivery: delivery({ state: 'expired' }) }),
    'expired',
    'Not sent: when the next attempt was due, the event was older than the subscription allows (expireAfterSeconds).',
  ],
  [
    'a delivery that expired before a retry',
    facts({ delivery: delivery({ state: 'expired', attempts: [attempt] }) }),
    'expired',
    'Not sent again after attempt 1 at 2026-11-20T12:00:00.100Z was answered with 503: when the next attempt was due, the event was older than the subscription allows (expireAfterSeconds).',
  ],
  ['no record yet', facts({}), 'pending', 'Due now: the first attempt is in progress or about to be made.'],
  [
    'a delivery that was sent again',
    facts({ delivery: delivery({ state: 'pending', run: 2, attempts: [late] }) }),
    'pending',
    'Sent again on request: the next attempt is due now.',
  ],
  [
    'a waiting delivery',
    facts({ delivery: waiting }),
    'waiting',
    'Attempt 1 at 2026-11-20T12:00:00.100Z was answered with 503. The next attempt is due at about 2026-11-20T12:00:10.000Z.',
  ],
  [
    'a held delivery of a paused subscription',
    facts({ delivery: held, subscription: { ...subscription, paused: true } }),
    'held',
    'Held: the subscription is paused. It is sent when the subscription is resumed.',
  ],
  [
    'a held delivery of a subscription that is paused for a time',
    facts({ delivery: held, subscription: { ...subscription, pausedUntil: parkedAt } }),
    'held',
    'Held: the subscription is paused until 2026-11-21T00:36:10.000Z. It is sent then.',
  ],
  [
    'a held delivery of a subscription that was resumed a moment ago',
    facts({ delivery: held }),
    'held',
    'It was held, because the subscription was paused or limited. It is sent soon.',
  ],
  [
    'a held delivery of a subscription that was deleted',
    without('subscription', { delivery: delivery({ state: 'held' }) }),
    'held',
    'It was held. The subscription was deleted, so it will be withdrawn when it is due.',
  ],
  [
    'a held retry of a subscription that was deleted',
    without('subscription', { delivery: held }),
    'held',
    'It was held, because the subscription was paused or limited. It is sent soon.',
  ],
  [
    'a delivery that clients received, and whose subscription was deleted',
    without('subscription', { delivery: { ...held, url: '' } }),
    'held',
    'The subscription was deleted, so it will be parked when it is due.',
  ],
  [
    'a held delivery of a subscription that is at its limits',
    facts({
      delivery: held,
      subscription: { ...subscription, pausedUntil: '2026-11-20T12:00:00.999Z', maxInFlight: 2, maxPerSecond: 5 },
    }),
    'held',
    'Held: more is due than the subscription allows (maxInFlight 2, maxPerSecond 5). It is sent when its turn comes.',
  ],
  [
    'a delivery that clients receive',
    facts({ delivery: held, subscription: { ...subscription, mode: 'pull' } }),
    'held',
    'Held until a client receives it.',
  ],
  [
    'a delivery that clients receive, while the subscription is paused',
    facts({ delivery: held, subscription: { ...subscription, mode: 'pull', paused: true } }),
    'held',
    'Held: the subscription is paused. A client can receive it when the subscription is resumed.',
  ],
  [
    'a delivery that clients receive, after a failed attempt',
    facts({ delivery: { ...held, nextAttemptAt: parkedAt }, subscription: { ...subscription, mode: 'pull' } }),
    'held',
    'Held: a client can receive it again at 2026-11-21T00:36:10.000Z.',
  ],
  [
    'a waiting delivery, and an endpoint that is about to be probed',
    facts({ delivery: waiting, health: probing }),
    'waiting',
    'Attempt 1 at 2026-11-20T12:00:00.100Z was answered with 503. The next attempt is due at about 2026-11-20T12:00:10.000Z.',
  ],
  [
    'a waiting delivery without an attempt, after a cool-down',
    facts({ delivery: delivery({ nextAttemptAt }) }),
    'waiting',
    'No attempt was made yet, usually because the endpoint was in a cool-down. The next attempt is due at about 2026-11-20T12:00:10.000Z.',
  ],
  [
    'a waiting delivery, and an endpoint in its cool-down',
    facts({ delivery: waiting, health: open }),
    'cooling-down',
    'The endpoint failed 5 times in a row and is not contacted until 2026-11-20T12:01:00.000Z. This delivery is due again at about 2026-11-20T12:00:10.000Z, still in the cool-down, and then waits for its next slot.',
  ],
  [
    'a waiting delivery without an attempt, in a cool-down, and a disabled subscription',
    facts({
      delivery: delivery({ nextAttemptAt }),
      subscription: { ...subscription, enabled: false },
      health: open,
    }),
    'cooling-down',
    'The endpoint failed 5 times in a row and is not contacted until 2026-11-20T12:01:00.000Z. This delivery is due again at about 2026-11-20T12:00:10.000Z. The subscription is disabled: unless you enable it, it will be withdrawn when it is due.',
  ],
  [
    'a waiting delivery without an attempt, after a cool-down, and a disabled subscription',
    facts({ delivery: delivery({ nextAttemptAt }), subscription: { ...subscription, enabled: false } }),
    'waiting',
    'No attempt was made yet, usually because the endpoint was in a cool-down. The next attempt is due at about 2026-11-20T12:00:10.000Z. The subscription is disabled: unless you enable it, it will be withdrawn when it is due.',
  ],
  [
    'a waiting delivery without an attempt, and a deleted subscription',
    without('subscription', { delivery: delivery({ nextAttemptAt }) }),
    'waiting',
    'No attempt was made yet, usually because the endpoint was in a cool-down. The next attempt is due at about 2026-11-20T12:00:10.000Z. The subscription was deleted, so it will be withdrawn when it is due.',
  ],
  [
    'a waiting delivery without an attempt, and a subscription that no longer receives its type',
    facts({ delivery: delivery({ nextAttemptAt }), subscription: { ...subscription, eventTypes: ['agent.status'] } }),
    'waiting',
    'No attempt was made yet, usually because the endpoint was in a cool-down. The next attempt is due at about 2026-11-20T12:00:10.000Z. The subscription no longer receives call.status: unless you add it again, it will be withdrawn when it is due.',
  ],
  [
    'no record yet, and a subscription that no longer receives its type',
    facts({ subscription: { ...subscription, eventTypes: ['agent.status'] } }),
    'not-subscribed',
    'The subscription no longer receives call.status. The delivery will not be sent, unless its first attempt has already begun.',
  ],
  [
    'a waiting delivery with a failed attempt, and a disabled subscription',
    facts({ delivery: waiting, subscription: { ...subscription, enabled: false } }),
    'waiting',
    'Attempt 1 at 2026-11-20T12:00:00.100Z was answered with 503. The next attempt is due at about 2026-11-20T12:00:10.000Z.',
  ],
  [
    'a pending test',
    without('event', { delivery: delivery({ state: 'pending', trial: 'test' }) }),
    'pending',
    'Test delivery. Due now: the first attempt is in progress or about to be made.',
  ],
  [
    'an acknowledged test',
    without('event', { delivery: delivery({ state: 'acknowledged', trial: 'test', attempts: [ok] }) }),
    'delivered',
    'Test delivery. Delivered: attempt 1 at 2026-11-20T12:00:00.100Z was answered with 204.',
  ],
  [
    'no record yet, and an endpoint in its cool-down',
    facts({ health: { ...open, consecutiveFailures: 1 } }),
    'cooling-down',
    'The endpoint failed and is not contacted until 2026-11-20T12:01:00.000Z.',
  ],
  [
    'an exhausted delivery',
    facts({ delivery: delivery({ state: 'parked', parkedReason: 'exhausted', parkedAt, attempts: [attempt, late] }) }),
    'parked',
    'Parked at 2026-11-21T00:36:10.000Z: the schedule ended after 8 attempts; attempt 8 at 2026-11-20T12:00:00.100Z got no answer (timeout). You can send it again.',
  ],
  [
    'an exhausted delivery without an attempt, because of cool-downs',
    facts({ delivery: delivery({ state: 'parked', parkedReason: 'exhausted', parkedAt }) }),
    'parked',
    'Parked at 2026-11-21T00:36:10.000Z: the schedule ended before an attempt could be made. You can send it again.',
  ],
  [
    'a rejected delivery',
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
    'Parked at 2026-11-21T00:36:10.000Z: attempt 1 at 2026-11-20T12:00:00.100Z was answered with 404, which is not retried. You can send it again.',
  ],
  [
    'a delivery that was answered with a redirect',
    facts({
      delivery: {
        ...rejected,
        attempts: [{ ...attempt, status: 301, detail: 'redirects are not followed: change the url' }],
      },
    }),
    'parked',
    'Parked at 2026-11-21T00:36:10.000Z: attempt 1 at 2026-11-20T12:00:00.100Z was answered with 301 (redirects are not followed: change the url), which is not retried. You can send it again.',
  ],
  [
    'a rejected delivery of a subscription that recovers them',
    facts({ delivery: rejected, subscription: { ...subscription, recoverRejected: true } }),
    'parked',
    'Parked at 2026-11-21T00:36:10.000Z: attempt 1 at 2026-11-20T12:00:00.100Z was answered with 503, which is not retried. With recoverRejected, the next 2xx of the endpoint starts a recovery of what it has rejected since the setting was made. You can send it again.',
  ],
  [
    'a rejected delivery of such a subscription, which was sent again before',
    facts({ delivery: { ...rejected, run: 2 }, subscription: { ...subscription, recoverRejected: true } }),
    'parked',
    'Parked at 2026-11-21T00:36:10.000Z: attempt 1 at 2026-11-20T12:00:00.100Z was answered with 503, which is not retried. You can send it again.',
  ],
  [
    'a parked delivery, and a disabled subscription',
    facts({
      delivery: delivery({ state: 'parked', parkedReason: 'exhausted', parkedAt, attempts: [late] }),
      subscription: { ...subscription, enabled: false },
    }),
    'parked',
    'Parked at 2026-11-21T00:36:10.000Z: the schedule ended after 8 attempts; attempt 8 at 2026-11-20T12:00:00.100Z got no answer (timeout). The subscription is disabled: enable it to send the delivery again.',
  ],
  [
    'a parked delivery, and a deleted subscription',
    without('subscription', {
      delivery: delivery({ state: 'parked', parkedReason: 'exhausted', parkedAt, attempts: [late] }),
    }),
    'parked',
    'Parked at 2026-11-21T00:36:10.000Z: the schedule ended after 8 attempts; attempt 8 at 2026-11-20T12:00:00.100Z got no answer (timeout). The subscription was deleted, so it cannot be sent again.',
  ],
  [
    'a parked delivery whose body was dropped by the limit on parked deliveries',
    facts({
      delivery: delivery({ state: 'parked', parkedReason: 'rejected', parkedAt, attempts: [attempt] }),
      isBodyDropped: true,
    }),
    'parked',
    'Parked at 2026-11-21T00:36:10.000Z: attempt 1 at 2026-11-20T12:00:00.100Z was answered with 503, which is not retried. Its body is no longer kept, so it cannot be sent again.',
  ],
  [
    'a withdrawn delivery',
    without('subscription', { delivery: delivery({ state: 'withdrawn' }) }),
    'withdrawn',
    'Not sent: before its first attempt, the subscription was deleted, disabled or unsubscribed from call.status, or got a filter that refuses the event.',
  ],
  [
    'a subscription to another type',
    facts({ ...unmatched, subscription: { ...subscription, eventTypes: ['agent.status'] } }),
    'not-subscribed',
    'Not sent: the subscription receives agent.status, but not call.status.',
  ],
  [
    'a filter that refuses the event',
    facts({ ...unmatched, subscription: filtered, data: { state: 2 } }),
    'filtered',
    'Not sent: state was 2; the filter wants 3 or 7.',
  ],
  [
    'an expired event, and a filter that refuses it',
    without('event', { subscription: filtered, data: { state: 2 } }),
    'filtered',
    'Not sent: state was 2; the filter wants 3 or 7.',
  ],
  [
    'a filter, and an event whose data is not known',
    facts({ ...unmatched, subscription: filtered }),
    'changed-later',
    'Not sent: when the event was fanned out at 2026-11-20T12:00:00.000Z, the subscription was disabled, its filter refused the event, or it did not receive call.status.',
  ],
  [
    'no record yet, and a filter that now refuses the event',
    facts({ subscription: filtered, data: { state: 2 } }),
    'filtered',
    'The filter of the subscription refuses it: state was 2; the filter wants 3 or 7. The delivery will not be sent, unless its first attempt has already begun.',
  ],
  [
    'a waiting delivery without an attempt, and a filter that now refuses the event',
    facts({ delivery: delivery({ nextAttemptAt }), subscription: filtered, data: { state: 2 } }),
    'waiting',
    'No attempt was made yet, usually because the endpoint was in a cool-down. The next attempt is due at about 2026-11-20T12:00:10.000Z. The filter now refuses the event (state was 2; the filter wants 3 or 7): unless you change it, it will be withdrawn when it is due.',
  ],
  [
    'no record yet, and a filter that passes the event',
    facts({ subscription: filtered, data: { state: 3 } }),
    'pending',
    'Due now: the first attempt is in progress or about to be made.',
  ],
  [
    'a disabled subscription',
    facts({ ...unmatched, subscription: { ...subscription, enabled: false } }),
    'disabled',
    'Not sent: the subscription is disabled.',
  ],
  [
    'no record yet, and a disabled subscription',
    facts({ subscription: { ...subscription, enabled: false } }),
    'disabled',
    'The subscription is disabled. The delivery will not be sent, unless its first attempt has already begun.',
  ],
  [
    'a subscription that was created later',
    facts({ ...unmatched, subscription: { ...subscription, createdAt: '2026-11-20T12:00:00.001Z', enabled: false } }),
    'created-later',
    'Not sent: the subscription was created at 2026-11-20T12:00:00.001Z, after the event was fanned out.',
  ],
  [
    'a subscription that would receive the event now',
    facts(unmatched),
    'changed-later',
    'Not sent: when the event was fanned out at 2026-11-20T12:00:00.000Z, the subscription was disabled or did not receive call.status.',
  ],
  [
    'no record yet, and a deleted subscription',
    without('subscription'),
    'deleted',
    'The subscription was deleted. The delivery will not be sent, unless its first attempt has already begun.',
  ],
  [
    'an expired event, and a subscription that receives its type',
    without('event'),
    'unknown',
    'There is no record of a delivery: it was delivered, withdrawn or expired long ago, or the event did not match the subscription.',
  ],
  [
    'an expired event, and a subscription to another type',
    without('event', { subscription: { ...subscription, eventTypes: ['agent.status'] } }),
    'not-subscribed',
    'Not sent: the subscription receives agent.status, but not call.status.',
  ],
]

test.each(CASES)('%s', (_name, known, verdict, explanation) => {
  expect(explain(known)).toMatchObject({ verdict, explanation, subscriptionId })
})

const lapsed: Attempt = { ...attempt, outcome: 'lapsed', status: null }
const again: Attempt = { ...attempt, run: 2, attempt: 9 }
/** The eight attempts of an earlier run, of which the first and the last are named. */
const earlier = [attempt, late]

/** Every way in which a delivery is parked, after each kind of history. The worker's `decide.ts` has the rules. */
const PARKED_ENDS: readonly (readonly [name: string, of: Partial<ListedDelivery>, sentence: string])[] = [
  [
    'the endpoint rejects it',
    { parkedReason: 'rejected', attempts: [{ ...attempt, status: 404 }] },
    'attempt 1 at 2026-11-20T12:00:00.100Z was answered with 404, which is not retried.',
  ],
  [
    'the endpoint rejects a redelivery',
    { parkedReason: 'rejected', run: 2, attempts: [...earlier, { ...again, status: 301 }] },
    'attempt 9 at 2026-11-20T12:00:00.100Z was answered with 301, which is not retried.',
  ],
  [
    'its last attempt fails',
    { attempts: earlier },
    'the schedule ended after 8 attempts; attempt 8 at 2026-11-20T12:00:00.100Z got no answer (timeout).',
  ],
  [
    'the last attempt of a redelivery fails',
    { run: 2, attempts: [...earlier, again] },
    'the schedule ended after 1 attempt; attempt 9 at 2026-11-20T12:00:00.100Z was answered with 503.',
  ],
  ['cool-downs use up its schedule', {}, 'the schedule ended before an attempt could be made.'],
  [
    'cool-downs use up the rest of its schedule',
    { attempts: [attempt] },
    'the schedule ended after 1 attempt; attempt 1 at 2026-11-20T12:00:00.100Z was answered with 503.',
  ],
  [
    'cool-downs use up the schedule of a redelivery',
    { run: 2, attempts: earlier },
    'the schedule ended before an attempt could be made.',
  ],
  [
    'too many are held',
    { parkedCause: 'held-limit' },
    'more deliveries were held than the limit allows, and the oldest were parked.',
  ],
  [
    'too many are held, after a retry',
    { parkedCause: 'held-limit', attempts: [attempt] },
    'more deliveries were held than the limit allows, and the oldest were parked; attempt 1 at 2026-11-20T12:00:00.100Z was answered with 503.',
  ],
  [
    'too many are held, after a lease ended',
    { parkedCause: 'held-limit', url: '', attempts: [lapsed] },
    'more deliveries were held than the limit allows, and the oldest were parked; attempt 1 at 2026-11-20T12:00:00.100Z had no outcome when its lease ended (lapsed).',
  ],
  [
    'too many are held, before a redelivery',
    { parkedCause: 'held-limit', run: 2, attempts: earlier },
    'more deliveries were held than the limit allows, and the oldest were parked.',
  ],
  [
    'too many wait for a retry',
    { parkedCause: 'waiting-limit', attempts: [attempt] },
    'as many deliveries of the tenant waited for a retry as may, so this one was parked instead; attempt 1 at 2026-11-20T12:00:00.100Z was answered with 503.',
  ],
  [
    'too many wait for the end of a cool-down',
    { parkedCause: 'waiting-limit' },
    'as many deliveries of the tenant waited for a retry as may, so this one was parked instead.',
  ],
  [
    'its subscription is disabled before a redelivery',
    { parkedCause: 'withdrawn', run: 2 },
    'when it was sent again, the subscription was deleted, disabled or unsubscribed from call.status, or had a filter that refuses the event.',
  ],
  [
    'its pull subscription is deleted',
    { parkedCause: 'withdrawn', url: '', attempts: [lapsed] },
    'the subscription was deleted, and clients receive its deliveries no more; attempt 1 at 2026-11-20T12:00:00.100Z had no outcome when its lease ended (lapsed).',
  ],
]

test.each(PARKED_ENDS)('parked, because %s', (_name, of, sentence) => {
  const parked = delivery({
    state: 'parked',
    parkedReason: 'exhausted',
    parkedAt,
    ...of,
    attempt: of.attempts?.at(-1)?.attempt ?? 0,
  })
  expect(explain(facts({ delivery: parked })).explanation).toBe(
    `Parked at ${parkedAt}: ${sentence} You can send it again.`,
  )
})

test('every reason and every cause of parking is in the table', () => {
  const valuesOf = (name: 'parkedReason' | 'parkedCause') => new Set(PARKED_ENDS.flatMap(([, of]) => of[name] ?? []))
  expect(valuesOf('parkedReason').add('exhausted')).toEqual(new Set(PARKED_REASONS))
  expect(valuesOf('parkedCause')).toEqual(new Set(PARKED_CAUSES))
})

test('every verdict is in the table', () => {
  expect(new Set(CASES.map(([, , verdict]) => verdict))).toEqual(new Set(VERDICTS))
})

test('the explanation has the facts of the delivery besides the sentence', () => {
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

describe('an event whose record has expired, but which the journal has', () => {
  const journaled = { fannedOutAt: '2026-11-20T12:00:00.000Z', subscriptionIds: [subscriptionId], subscriptionCount: 1 }
  const to = (change: Partial<typeof journaled>, more: Partial<Facts> = {}) =>
    explain(without('event', { journaled: { ...journaled, ...change }, ...more }))

  test('went to the subscription: the result is unknown, and never pending', () => {
    expect(to({})).toMatchObject({ verdict: 'unknown', deliveryId })
  })

  test('did not go to the subscription, which was created later', () => {
    const later = { ...subscription, createdAt: '2026-11-20T12:00:00.001Z' }
    const found = to({ subscriptionIds: [], subscriptionCount: 0 }, { subscription: later })
    expect(found).toMatchObject({ verdict: 'created-later', deliveryId: null })
  })

  test('went to more subscriptions than are listed: nothing is claimed', () => {
    expect(to({ subscriptionIds: [], subscriptionCount: 101 })).toMatchObject({ verdict: 'unknown', deliveryId: null })
  })
})

test('a first attempt that the tenant asked for is not expected to be withdrawn for its event type', () => {
  const narrowed = { ...subscription, eventTypes: ['agent.status' as const] }
  const requested = facts({ delivery: delivery({ state: 'pending', isRequested: true }), subscription: narrowed })
  expect(explain(requested).explanation).not.toContain('withdrawn')
})

test('an unknown state of a newer worker is named and is not an error', () => {
  const newer = { ...delivery({}), state: 'quarantined' } as unknown as ListedDelivery
  expect(explain(facts({ delivery: newer }))).toMatchObject({
    verdict: 'pending',
    explanation: expect.stringContaining('"quarantined"') as string,
  })
})
