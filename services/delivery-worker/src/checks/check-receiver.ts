import {
  type CheckedPost,
  type CheckResult,
  type Delivery,
  exampleDeliveryOf,
  newEventId,
  parseReceiverCheck,
  type ReceiverCheck,
  type Subscription,
  type Trial,
} from '@switchhook/contracts'
import { type Broker, type Consumer, type IncomingMessage, Queue } from '@switchhook/messaging'
import type { CheckStore, Installation, SubscriptionStore } from '@switchhook/store'
import type { EndpointClient } from '../http/endpoint-client.ts'
import type { PostClient } from '../http/post.ts'
import { resultOf } from '../policy/classify.ts'

export interface CheckReceiverDeps {
  readonly find: (check: ReceiverCheck) => Promise<Subscription | undefined>
  readonly post: PostClient['post']
  readonly canSign: (delivery: Delivery) => boolean
  readonly save: (checkId: string, result: CheckResult) => Promise<void>
  /** The deadline of one attempt, which the result states. */
  readonly deadlineMs: number
  readonly now: () => number
}

/**
 * Checks the endpoint of a subscription: it sends a delivery, then its duplicate together with deliveries that the endpoint
 * has to reject. Each is POSTed once, by the client of all attempts; nothing is retried, parked or counted by the breaker.
 * After a failed first delivery the others would show nothing and are left out, so a check takes at most two deadlines.
 */
export function createCheckReceiver(deps: CheckReceiverDeps): (check: ReceiverCheck) => Promise<void> {
  async function postOnce(delivery: Delivery, attempt = 1): Promise<CheckedPost> {
    const startedAtMs = deps.now()
    const outcome = await deps.post(delivery, attempt)
    return { ...resultOf(outcome), durationMs: deps.now() - startedAtMs }
  }

  return async (check) => {
    if (deps.now() > Date.parse(check.expiresAt)) return
    const subscription = await deps.find(check)
    if (subscription === undefined) return deps.save(check.checkId, { refused: 'subscription-not-found' })
    const { signing, headers } = subscription
    const isSigned = signing !== undefined
    const example = (trial: Trial): Delivery => ({
      ...exampleDeliveryOf(
        { eventId: newEventId(), eventType: check.eventType, trial, at: new Date(deps.now()) },
        subscription,
      ),
      ...(signing !== undefined && { signing }),
      ...(headers !== undefined && { headers }),
    })
    const first = example('test')
    if (!deps.canSign(first)) return deps.save(check.checkId, { refused: 'secret-unavailable' })
    const plain = await postOnce(first)
    const facts = { deadlineMs: deps.deadlineMs, isSigned, plain }
    if (plain.outcome !== 'delivered') return deps.save(check.checkId, facts)
    const [duplicate, forged, stale] = await Promise.all([
      postOnce(first, 2),
      ...(isSigned ? [postOnce(example('forged')), postOnce(example('stale'))] : []),
    ])
    await deps.save(check.checkId, {
      ...facts,
      ...(duplicate !== undefined && { duplicate }),
      ...(forged !== undefined && { forged }),
      ...(stale !== undefined && { stale }),
    })
  }
}

export interface ReceiverChecksDeps {
  readonly broker: Pick<Broker, 'consume'>
  readonly installation: Installation
  readonly client: EndpointClient
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly checks: Pick<CheckStore, 'save'>
  /** The deadline of one attempt. */
  readonly deadlineMs: number
}

/** Concurrent checks; each makes a few POSTs. */
const CONCURRENT_CHECKS = 5

/** Consumes the receiver checks that the api requests. */
export function consumeReceiverChecks(deps: ReceiverChecksDeps): Promise<Consumer> {
  const { broker, installation, client, subscriptions, checks, deadlineMs } = deps
  return broker.consume({
    queue: Queue.receiverChecks,
    parse: installation.checked(({ content }: IncomingMessage) => parseReceiverCheck(content)),
    handle: createCheckReceiver({
      find: ({ tenant, subscriptionId }) => subscriptions.find(tenant, subscriptionId),
      post: (delivery, attempt) => client.post(delivery, attempt),
      canSign: client.canSign,
      save: (checkId, result) => checks.save(checkId, result),
      deadlineMs,
      now: Date.now,
    }),
    concurrency: CONCURRENT_CHECKS,
    recovered: installation.recovered,
  })
}
