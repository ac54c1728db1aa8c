import type { Attempt, DeliveryId, ParkedReason, Subscription, SubscriptionId } from '@switchhook/contracts'
import type { EndpointHealth, EventRecord, ListedDelivery } from '@switchhook/store'

/** What became of an event at a subscription. Stable: shown to users. */
export const VERDICTS = [
  'delivered',
  'pending',
  'waiting',
  'cooling-down',
  'parked',
  'withdrawn',
  'not-subscribed',
  'disabled',
  'created-later',
  'changed-later',
  'deleted',
  'unknown',
] as const

export type Verdict = (typeof VERDICTS)[number]

/** All that is known of one event and one subscription. */
export interface Facts {
  readonly eventType: string
  /** Absent: the event is remembered by its deliveries alone. */
  readonly event?: Pick<EventRecord, 'fannedOutAt' | 'subscriptionIds'>
  readonly subscriptionId: SubscriptionId
  readonly deliveryId: DeliveryId
  /** As it is now; absent: deleted. */
  readonly subscription?: Subscription
  readonly delivery?: ListedDelivery
  /** The body of a parked delivery is no longer kept. */
  readonly isBodyDropped?: boolean
  /** Of its endpoint, now. */
  readonly health: EndpointHealth
}

export interface Explanation {
  readonly subscriptionId: SubscriptionId
  readonly url: string | null
  readonly verdict: Verdict
  /** One sentence for a person. */
  readonly explanation: string
  /** null: there is none. */
  readonly deliveryId: DeliveryId | null
  readonly attemptCount: number
  readonly lastAttempt: Attempt | null
  readonly deliveredAt: string | null
  readonly nextAttemptAt: string | null
  readonly coolingUntil: string | null
  readonly parkedAt: string | null
  readonly parkedReason: ParkedReason | null
}

/** Tells what became of an event at one subscription, and why. No clock and no I/O. */
export function explain(facts: Facts): Explanation {
  const { subscriptionId, subscription, delivery } = facts
  const [verdict, said] = judge(facts)
  const explanation = delivery?.trial === undefined ? said : `A test that was asked for. ${said}`
  const lastAttempt = delivery?.attempts.at(-1) ?? null
  const isCooling = verdict === 'cooling-down'
  return {
    subscriptionId,
    url: delivery?.url ?? subscription?.url ?? null,
    verdict,
    explanation,
    deliveryId: hasDelivery(facts) ? facts.deliveryId : null,
    attemptCount: delivery?.attempt ?? 0,
    lastAttempt,
    deliveredAt: verdict === 'delivered' ? endOf(lastAttempt) : null,
    nextAttemptAt: delivery?.nextAttemptAt ?? null,
    coolingUntil: isCooling ? coolingUntil(facts.health) : null,
    parkedAt: delivery?.parkedAt ?? null,
    parkedReason: delivery?.parkedReason ?? null,
  }
}

type Judgement = readonly [verdict: Verdict, explanation: string]

function judge(facts: Facts): Judgement {
  if (facts.delivery !== undefined) return judgeDelivery(facts.delivery, facts)
  if (facts.event === undefined) return judgeForgotten(facts)
  return wasMatched(facts) ? judgeUnattempted(facts) : judgeUnmatched(facts, facts.event.fannedOutAt)
}

/** What a record says stands, whatever has become of the subscription since; what can be done about it does not. */
function judgeDelivery(delivery: ListedDelivery, facts: Facts): Judgement {
  const { health } = facts
  const last = delivery.attempts.at(-1)
  switch (delivery.state) {
    case 'acknowledged':
      return ['delivered', `Delivered: ${attemptSentence(last)}.`]
    case 'parked':
      return [
        'parked',
        `Given up and kept, at ${delivery.parkedAt}: ${parkedSentence(delivery)}. ${wayBackSentence(facts)}`,
      ]
    case 'withdrawn':
      return ['withdrawn', `Not sent: before the first attempt the subscription ${STOPPED} ${facts.eventType}.`]
    case 'waiting':
    case 'pending':
      if (health.state === 'open') return ['cooling-down', coolingSentence(health, delivery, endSentence(facts))]
      return delivery.state === 'pending'
        ? ['pending', `${pendingSentence(delivery)}${endSentence(facts)}`]
        : [
            'waiting',
            `${failureSentence(last)} The next attempt is due at about ${delivery.nextAttemptAt}.${endSentence(facts)}`,
          ]
    default:
      // A worker that is newer than this api may store a state that is not in the type.
      return ['pending', `Its state is "${String(delivery.state)}", which this version of the api cannot explain yet.`]
  }
}

/** The event became a delivery that has no recorded attempt. A first attempt that is under way is not interrupted. */
function judgeUnattempted({ eventType, subscription, health }: Facts): Judgement {
  if (subscription === undefined) return ['deleted', `The subscription was deleted: ${UNLESS}`]
  if (!subscription.enabled) return ['disabled', `The subscription is disabled: ${UNLESS}`]
  if (!asksFor(subscription, eventType))
    return ['not-subscribed', `The subscription no longer asks for ${eventType}: ${UNLESS}`]
  if (health.state === 'open') return ['cooling-down', coolingSentence(health)]
  return ['pending', FIRST_DUE]
}

/** It became a delivery for others, but not for this one. */
function judgeUnmatched({ eventType, subscription }: Facts, fannedOutAt: string): Judgement {
  if (subscription === undefined) return ['unknown', NOTHING]
  if (subscription.createdAt > fannedOutAt) return createdLater(subscription)
  return (
    notMeant(subscription, eventType) ?? [
      'changed-later',
      `Not sent: when the event was taken up, at ${fannedOutAt}, the subscription was disabled or did not ask for ${eventType}.`,
    ]
  )
}

/** Only its other deliveries are remembered, so what the subscription was like then is not known. */
function judgeForgotten({ eventType, subscription }: Facts): Judgement {
  return (subscription && notMeant(subscription, eventType)) ?? ['unknown', NOTHING]
}

function notMeant(subscription: Subscription, eventType: string): Judgement | undefined {
  const asked = subscription.eventTypes.join(', ')
  if (!asksFor(subscription, eventType))
    return ['not-subscribed', `Not sent: the subscription asks for ${asked}, not for ${eventType}.`]
  return subscription.enabled ? undefined : ['disabled', 'Not sent: the subscription is disabled.']
}

const createdLater = ({ createdAt }: Subscription): Judgement => [
  'created-later',
  `Not sent: the subscription was created after the event was taken up, at ${createdAt}.`,
]

const FIRST_DUE = 'Due now: its first attempt is under way, or is about to be made.'

const STOPPED = 'was deleted or disabled, or stopped asking for'

const asksFor = ({ eventTypes }: Subscription, eventType: string): boolean =>
  eventTypes.some((type) => type === eventType)

const UNLESS = 'not sent, unless its first attempt was already under way.'

const NOTHING = 'Nothing is remembered of it: it was delivered or withdrawn long ago, or was never meant for it.'

const wasMatched = ({ event, subscriptionId }: Facts): boolean =>
  event?.subscriptionIds.includes(subscriptionId) ?? false

const hasDelivery = (facts: Facts): boolean => facts.delivery !== undefined || wasMatched(facts)

function coolingSentence(health: EndpointHealth, delivery?: ListedDelivery, end = ''): string {
  const next = delivery?.nextAttemptAt ?? null
  const isUsedUp = next !== null && health.openUntilMs !== null && Date.parse(next) < health.openUntilMs
  const then = isUsedUp && end === '' ? ', within that time: then it waits on, for its next place in the schedule' : ''
  const after = next === null ? '' : ` This delivery is due again at about ${next}${then}.`
  return `The endpoint failed ${times(health.consecutiveFailures)} in a row and is not contacted until ${coolingUntil(health)}.${after}${end}`
}

/**
 * Follows the delivery worker's rule for first attempts (`admit.ts`): a test may have any event type, and a delivery that
 * was sent again is parked again.
 */
function endSentence({ eventType, delivery, subscription }: Facts): string {
  if (delivery === undefined || delivery.attempt > 0) return ''
  const end = delivery.run > 1 ? 'parked again' : 'withdrawn'
  if (subscription === undefined) return ` It will be ${end} when it is due, as its subscription was deleted.`
  if (!subscription.enabled)
    return ` It will be ${end} when it is due, unless the subscription, which is disabled, is enabled by then.`
  return delivery.trial !== undefined || asksFor(subscription, eventType)
    ? ''
    : ` It will be ${end} when it is due, unless the subscription asks for ${eventType} again by then.`
}

function pendingSentence({ attempt }: ListedDelivery): string {
  return attempt === 0 ? FIRST_DUE : 'Sent again on request: its next attempt is due now.'
}

function wayBackSentence({ subscription, isBodyDropped }: Facts): string {
  if (isBodyDropped === true) return 'Its body is no longer kept, so it cannot be sent again.'
  if (subscription === undefined) return 'Its subscription was deleted, so it cannot be sent again.'
  return subscription.enabled
    ? 'It can be sent again.'
    : 'It can be sent again once the subscription, which is disabled, is enabled.'
}

const coolingUntil = ({ openUntilMs }: EndpointHealth): string | null =>
  openUntilMs === null ? null : new Date(openUntilMs).toISOString()

function parkedSentence({ parkedReason, attempt, attempts }: ListedDelivery): string {
  const last = attempts.at(-1)
  if (parkedReason === 'rejected') return `${attemptSentence(last)}, which is not tried again`
  if (attempt === 0) return 'the schedule ran out before an attempt could be made'
  return `the schedule ran out after ${times(attempt, 'attempt')}; ${attemptSentence(last)}`
}

function failureSentence(last: Attempt | undefined): string {
  if (last === undefined) return 'Nothing was sent yet: the endpoint was in its cool-down.'
  const sentence = attemptSentence(last)
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

function attemptSentence(attempt: Attempt | undefined): string {
  if (attempt === undefined) return 'no attempt is on record'
  const { attempt: number, at, status, outcome } = attempt
  const came = status === null ? `got no answer (${outcome})` : `was answered with ${status}`
  return `attempt ${number}, made at ${at}, ${came}`
}

const times = (count: number, what = 'time'): string => `${count} ${what}${count === 1 ? '' : 's'}`

const endOf = (attempt: Attempt | null): string | null =>
  attempt === null ? null : new Date(Date.parse(attempt.at) + attempt.durationMs).toISOString()
