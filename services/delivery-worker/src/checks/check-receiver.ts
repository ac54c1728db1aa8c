import { setTimeout as pause } from 'node:timers/promises'
import {
  type CheckedPost,
  type Delivery,
  exampleDeliveryOf,
  hasLimits,
  newEventId,
  parseReceiverCheck,
  type ReceiverCheck,
  type Trial,
} from '@switchhook/contracts'
import { type Consumer, Queue } from '@switchhook/messaging'
import type { Consume } from '@switchhook/service'
import type { CheckStore, SubscriptionStore } from '@switchhook/store'
import type { Clocks } from '../clocks.ts'
import type { EndpointClient } from '../http/post.ts'
import type { PostLimits } from '../limits/post-limits.ts'
import { resultOf } from '../policy/classify.ts'

interface CheckReceiverDeps extends Pick<Clocks, 'redisNow'> {
  readonly client: Pick<EndpointClient, 'canSign' | 'deadlineMs' | 'forgetStrays' | 'postUnderLease' | 'sendsStrays'>
  readonly postLimits: Pick<PostLimits, 'withPermits'>
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly checks: Pick<CheckStore, 'save'>
}

/** Concurrent checks; each makes a few POSTs. */
const CONCURRENT_CHECKS = 5

/** How soon a check asks again for a permit of a subscription with limits. */
const PERMIT_POLL_MS = 50

/**
 * Checks the endpoint of a subscription: it sends a delivery, then its duplicate together with deliveries that the endpoint
 * has to reject. Each is POSTed once, by the client of all attempts; nothing is retried, parked or counted by the breaker.
 * After a failed first delivery the others would show nothing and are left out, so a check takes at most two deadlines, plus
 * the time that it waits for permits of a subscription with limits.
 */
export function createCheckReceiver(deps: CheckReceiverDeps) {
  const { client, postLimits, subscriptions, checks, redisNow } = deps
  // A check relies on what it read when it began.
  const post = client.postUnderLease(async (delivery) => ({
    admission: { kind: 'admitted', delivery },
    trustedUntilMs: Infinity,
  }))

  return async (check: ReceiverCheck): Promise<void> => {
    const { checkId, eventType } = check
    const expiresAtMs = Date.parse(check.expiresAt)
    if (redisNow() > expiresAtMs) return
    const subscription = await subscriptions.find(check.tenant, check.subscriptionId)
    if (subscription === undefined) return checks.save(checkId, { refused: 'subscription-not-found' })
    const { signing, headers } = subscription
    const limited = hasLimits(subscription) ? subscription : undefined
    /** Undefined: the limits let nothing through until the check expired, and the api waits no longer. */
    const postOnce = async (delivery: Delivery, attempt = 1): Promise<CheckedPost | undefined> => {
      for (; redisNow() <= expiresAtMs; await pause(PERMIT_POLL_MS)) {
        // Like a probe, it may go before what is held.
        const posted = await postLimits.withPermits(limited, delivery, true, (take) =>
          post(delivery, attempt, Infinity, { take }),
        )
        if (posted.kind !== 'posted') continue
        return { ...resultOf(posted.outcome), durationMs: posted.durationMs }
      }
      return undefined
    }
    const isSigned = signing !== undefined
    const example = (trial: Trial): Delivery => ({
      ...exampleDeliveryOf({ eventId: newEventId(), eventType, trial, at: new Date(redisNow()) }, subscription),
      ...(signing !== undefined && { signing }),
      ...(headers !== undefined && { headers }),
    })
    const first = example('test')
    if (!client.canSign(first)) return checks.save(checkId, { refused: 'secret-unavailable' })
    client.forgetStrays(first.url)
    const plain = await postOnce(first)
    if (plain === undefined) return
    const facts = { deadlineMs: client.deadlineMs, isSigned, plain }
    if (plain.outcome !== 'delivered') return checks.save(checkId, facts)
    // The first of these goes over the connection of the plain one, if the endpoint keeps it.
    const [duplicate, forged, stale] = await Promise.all([
      postOnce(first, 2),
      ...(isSigned ? [postOnce(example('forged')), postOnce(example('stale'))] : []),
    ])
    await checks.save(checkId, {
      ...facts,
      sendsStrays: client.sendsStrays(first.url),
      ...(duplicate !== undefined && { duplicate }),
      ...(forged !== undefined && { forged }),
      ...(stale !== undefined && { stale }),
    })
  }
}

export const consumeChecks = (consume: Consume, check: ReturnType<typeof createCheckReceiver>): Promise<Consumer> =>
  consume({
    queue: Queue.receiverChecks,
    concurrency: CONCURRENT_CHECKS,
    parse: ({ content }) => parseReceiverCheck(content),
    handle: check,
  })
