import {
  type CheckedPost,
  type CheckResult,
  type Delivery,
  exampleDeliveryOf,
  newEventId,
  type ReceiverCheck,
  type Subscription,
  type Trial,
} from '@switchhook/contracts'
import type { PostClient } from '../http/post.ts'
import { resultOf } from '../policy/attempt-result.ts'

export interface CheckReceiverDeps {
  readonly find: (check: ReceiverCheck) => Promise<Subscription | undefined>
  readonly post: PostClient['post']
  readonly canSign: (delivery: Delivery) => boolean
  readonly save: (checkId: string, result: CheckResult) => Promise<void>
  /** Of an attempt. */
  readonly deadlineMs: number
  readonly now: () => number
}

/**
 * Tries out the endpoint of a subscription: a delivery, then the same once more beside what has to be refused. Each is made
 * by the client that makes all attempts, once; nothing is retried, parked or counted by the breaker. What would tell
 * nothing after a failed first delivery is left out, so a check takes two deadlines at most.
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
    const { signing } = subscription
    const isSigned = signing !== undefined
    const example = (trial: Trial): Delivery => ({
      ...exampleDeliveryOf(
        { eventId: newEventId(), eventType: check.eventType, trial, at: new Date(deps.now()) },
        subscription,
      ),
      ...(signing !== undefined && { signing }),
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
