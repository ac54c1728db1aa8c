import {
  type CheckedPost,
  type Delivery,
  exampleDeliveryOf,
  newEventId,
  type ReceiverCheck,
  type Trial,
} from '@switchhook/contracts'
import type { CheckStore, SubscriptionStore } from '@switchhook/store'
import type { Clocks } from '../clocks.ts'
import type { EndpointClient } from '../http/endpoint-client.ts'
import { resultOf } from '../policy/classify.ts'

interface CheckReceiverDeps extends Clocks {
  readonly client: Pick<EndpointClient, 'post' | 'canSign' | 'sendsStrays' | 'forgetStrays'>
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly checks: Pick<CheckStore, 'save'>
  /** The deadline of one attempt, which the result states. */
  readonly deadlineMs: number
}

/** Concurrent checks; each makes a few POSTs. */
export const CONCURRENT_CHECKS = 5

/**
 * Checks the endpoint of a subscription: it sends a delivery, then its duplicate together with deliveries that the endpoint
 * has to reject. Each is POSTed once, by the client of all attempts; nothing is retried, parked or counted by the breaker.
 * After a failed first delivery the others would show nothing and are left out, so a check takes at most two deadlines.
 */
export function createCheckReceiver({ client, subscriptions, checks, deadlineMs, now, nowMs }: CheckReceiverDeps) {
  async function postOnce(delivery: Delivery, attempt = 1): Promise<CheckedPost> {
    const beganMs = nowMs()
    const outcome = await client.post(delivery, attempt)
    return { ...resultOf(outcome), durationMs: Math.round(nowMs() - beganMs) }
  }

  return async (check: ReceiverCheck): Promise<void> => {
    if (now() > Date.parse(check.expiresAt)) return
    const subscription = await subscriptions.find(check.tenant, check.subscriptionId)
    if (subscription === undefined) return checks.save(check.checkId, { refused: 'subscription-not-found' })
    const { signing, headers } = subscription
    const isSigned = signing !== undefined
    const example = (trial: Trial): Delivery => ({
      ...exampleDeliveryOf(
        { eventId: newEventId(), eventType: check.eventType, trial, at: new Date(now()) },
        subscription,
      ),
      ...(signing !== undefined && { signing }),
      ...(headers !== undefined && { headers }),
    })
    const first = example('test')
    if (!client.canSign(first)) return checks.save(check.checkId, { refused: 'secret-unavailable' })
    client.forgetStrays(first.url)
    const plain = await postOnce(first)
    const facts = { deadlineMs, isSigned, plain }
    if (plain.outcome !== 'delivered') return checks.save(check.checkId, facts)
    // The first of these goes over the connection of the plain one, if the endpoint keeps it.
    const [duplicate, forged, stale] = await Promise.all([
      postOnce(first, 2),
      ...(isSigned ? [postOnce(example('forged')), postOnce(example('stale'))] : []),
    ])
    await checks.save(check.checkId, {
      ...facts,
      sendsStrays: client.sendsStrays(first.url),
      ...(duplicate !== undefined && { duplicate }),
      ...(forged !== undefined && { forged }),
      ...(stale !== undefined && { stale }),
    })
  }
}
