import { type Attempt, filteredFields } from '@switchhook/contracts'
import type { ListedDelivery } from '@switchhook/store'
import { momentOf } from '../moment.ts'
import { attemptView } from './delivery-schema.ts'
import {
  attemptSentence,
  coolingSentence,
  endSentence,
  type Facts,
  FIRST_DUE,
  failureSentence,
  heldSentence,
  NO_RECORD,
  parkedSentence,
  receivesType,
  refusalOf,
  sendAgainSentence,
  UNLESS_BEGUN,
  wasMatched,
} from './explain-sentences.ts'

/** The possible results of an event at a subscription. Clients rely on the names. */
export const VERDICTS = [
  'delivered',
  'pending',
  'waiting',
  'held',
  'cooling-down',
  'parked',
  'withdrawn',
  'expired',
  'not-subscribed',
  'filtered',
  'disabled',
  'created-later',
  'changed-later',
  'deleted',
  'unknown',
] as const

export type Verdict = (typeof VERDICTS)[number]

/** Explains whether one subscription received an event, and why or why not. No clock and no I/O. */
export function explain(facts: Facts) {
  const { subscriptionId, subscription, delivery } = facts
  const [verdict, sentence] = findingOf(facts)
  const lastAttempt = delivery?.attempts.at(-1) ?? null
  return {
    subscriptionId,
    url: (delivery?.url ?? subscription?.url) || null,
    verdict,
    explanation: delivery?.trial === undefined ? sentence : `Test delivery. ${sentence}`,
    deliveryId: delivery !== undefined || wasMatched(facts) ? facts.deliveryId : null,
    attemptCount: delivery?.attempt ?? 0,
    lastAttempt: lastAttempt && attemptView(lastAttempt),
    deliveredAt: verdict === 'delivered' ? endOf(lastAttempt) : null,
    nextAttemptAt: delivery?.nextAttemptAt ?? null,
    coolingUntil: verdict === 'cooling-down' ? momentOf(facts.health.openUntilMs) : null,
    parkedAt: delivery?.parkedAt ?? null,
    parkedReason: delivery?.parkedReason ?? null,
  }
}

type Explanation = readonly [verdict: Verdict, explanation: string]

function findingOf(facts: Facts): Explanation {
  const { delivery, event, journaled } = facts
  if (delivery !== undefined) return explainDelivery(delivery, facts)
  if (wasMatched(facts)) return event === undefined ? ['unknown', WENT_THERE] : explainUnattempted(facts)
  const isCut = journaled !== undefined && journaled.subscriptionIds.length < journaled.subscriptionCount
  return explainUnmatched(facts, (event ?? (isCut ? undefined : journaled))?.fannedOutAt)
}

function explainDelivery(delivery: ListedDelivery, facts: Facts): Explanation {
  const { health } = facts
  const last = delivery.attempts.at(-1)
  const end = endSentence(facts)
  switch (delivery.state) {
    case 'acknowledged':
      return ['delivered', `Delivered: ${attemptSentence(last)}.`]
    case 'parked':
      return ['parked', `Parked at ${delivery.parkedAt}: ${parkedSentence(delivery)} ${sendAgainSentence(facts)}`]
    case 'withdrawn':
      return [
        'withdrawn',
        `Not sent: before its first attempt, the subscription was deleted, disabled or unsubscribed from ${facts.eventType}, or got a filter that refuses the event.`,
      ]
    case 'expired':
      return [
        'expired',
        `Not sent${last === undefined ? '' : ` again after ${attemptSentence(last)}`}: when the next attempt was due, the event was older than the subscription allows (expireAfterSeconds).`,
      ]
    case 'held':
      return ['held', `${heldSentence(delivery, facts)}${end}`]
    case 'waiting':
    case 'pending':
      if (health.state === 'open') return ['cooling-down', coolingSentence(health, delivery, end)]
      if (delivery.state === 'waiting')
        return ['waiting', `${failureSentence(last)} The next attempt is due at about ${delivery.nextAttemptAt}.${end}`]
      return [
        'pending',
        `${delivery.attempt === 0 ? FIRST_DUE : 'Sent again on request: the next attempt is due now.'}${end}`,
      ]
    default:
      // A newer worker may store a state that is not in the type.
      return [
        'pending',
        `Its state is "${String(delivery.state satisfies never)}", which this version of the api cannot explain yet.`,
      ]
  }
}

/** The event was fanned out to the subscription, and no attempt is recorded. A first attempt may be in progress. */
function explainUnattempted(facts: Facts): Explanation {
  const { eventType, subscription, health } = facts
  if (subscription === undefined) return ['deleted', `The subscription was deleted. ${UNLESS_BEGUN}`]
  if (!subscription.enabled) return ['disabled', `The subscription is disabled. ${UNLESS_BEGUN}`]
  if (!receivesType(subscription, eventType))
    return ['not-subscribed', `The subscription no longer receives ${eventType}. ${UNLESS_BEGUN}`]
  const refusal = refusalOf(facts)
  if (refusal !== undefined)
    return ['filtered', `The filter of the subscription refuses it: ${refusal}. ${UNLESS_BEGUN}`]
  if (health.state === 'open') return ['cooling-down', coolingSentence(health)]
  return ['pending', FIRST_DUE]
}

/**
 * No delivery is known, and the event is not known to have gone to this subscription.
 * @param fannedOutAt of an event that certainly did not go there; undefined: it may have, and its records have expired
 */
function explainUnmatched(facts: Facts, fannedOutAt: string | undefined): Explanation {
  const { eventType, subscription } = facts
  if (subscription === undefined) return ['unknown', NO_RECORD]
  const { createdAt, enabled, filter } = subscription
  if (fannedOutAt !== undefined && createdAt > fannedOutAt)
    return ['created-later', `Not sent: the subscription was created at ${createdAt}, after the event was fanned out.`]
  const types = subscription.eventTypes.join(', ')
  if (!receivesType(subscription, eventType))
    return ['not-subscribed', `Not sent: the subscription receives ${types}, but not ${eventType}.`]
  if (!enabled) return ['disabled', 'Not sent: the subscription is disabled.']
  const refusal = refusalOf(facts)
  if (refusal !== undefined) return ['filtered', `Not sent: ${refusal}.`]
  if (fannedOutAt === undefined) return ['unknown', NO_RECORD]
  return [
    'changed-later',
    `Not sent: when the event was fanned out at ${fannedOutAt}, the subscription was disabled${filteredFields(filter, eventType) === undefined ? ' or' : ', its filter refused the event, or it'} did not receive ${eventType}.`,
  ]
}

/** From the journal, which still shows where an event went when the records of its deliveries have expired. */
const WENT_THERE =
  'The event went to this subscription. Its delivery has no record any more: it was delivered, withdrawn or expired, unless its first attempt is long overdue.'

const endOf = (attempt: Attempt | null): string | null =>
  attempt === null ? null : new Date(Date.parse(attempt.at) + attempt.durationMs).toISOString()
