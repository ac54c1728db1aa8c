import {
  AppError,
  isLeaseValid,
  isPaused,
  isSent,
  leaseEndsAt,
  leavesGaps,
  type Subscription,
} from '@switchhook/contracts'
import { attemptHeaders, type Signer } from '@switchhook/signing'
import { type LeasedDelivery, leaseTimes } from '@switchhook/store'
import { acts, limitedClientOf, type RouteOf } from '../../http/route.ts'
import type { ValueOf } from '../../http/schema.ts'
import type { WebhookParts } from '../stores.ts'
import { findSubscription, ofSubscription } from '../subscriptions/subscription-routes.ts'
import type { LeaseTokens } from './lease-tokens.ts'
import { receivedSchema, receiveSchema } from './pull-schema.ts'
import type { Waiting } from './waiting.ts'

export interface ReceiveRouteDeps extends Pick<WebhookParts, 'redisNow'> {
  readonly subscriptions: Pick<WebhookParts['subscriptions'], 'find'>
  readonly held: Pick<WebhookParts['held'], 'receive' | 'release' | 'count' | 'forget' | 'remove'>
  readonly pullers: Pick<WebhookParts['pullers'], 'note'>
  readonly broker: Pick<WebhookParts['broker'], 'publishYielding'>
  readonly waiting: Pick<Waiting, 'enter'>
  readonly signer: Signer
  readonly tokens: LeaseTokens
}

/** Receives deliveries. Not audited: the attempts of a delivery show its outcomes. */
export const receiveDeliveries: RouteOf<ReceiveRouteDeps, ValueOf<typeof receiveSchema>> = {
  ...acts('subscriptions'),
  ...ofSubscription('/receive'),
  operationId: 'receiveDeliveries',
  summary: 'Receive deliveries of a pull subscription',
  description:
    'Answers with deliveries that are due, the oldest first, or waits until there is one. Each is leased to you: handle it as an endpoint handles its POST, ' +
    'then report the outcome. A delivery whose lease ends without an outcome is due again, and can be received twice: deduplicate by `deliveryId`. ' +
    'Four requests of a subscription can wait at the same time. An `Idempotency-Key` is rejected: each request receives other deliveries.',
  body: receiveSchema,
  isBodyOptional: true,
  waits: true,
  responses: { 200: { description: 'The deliveries; none if the wait ended.', body: receivedSchema } },
  failures: ['subscription-not-found', 'subscription-not-pull', 'secret-unavailable', 'too-many-receivers'],
  async handle({ caller, params: { id }, body, isClosed }, deps) {
    const { max = 10, waitSeconds = 20, leaseSeconds = 30 } = body
    const untilMs = performance.now() + waitSeconds * 1_000
    const find = () => findSubscription(deps.subscriptions, caller, id, { bePull: true })
    let subscription = await find()
    const { id: subscriptionId, tenant } = subscription
    const place = deps.waiting.enter(subscriptionId, limitedClientOf(caller), tenant)
    try {
      await deps.pullers.note(subscriptionId, caller.clientId, deps.redisNow())
      for (;;) {
        const leased = isPaused(subscription, deps.redisNow())
          ? []
          : await deps.held.receive({ tenant, subscriptionId }, max, leaseSeconds)
        const received = leased.length === 0 ? undefined : await handOut(deps, subscription, leased, isClosed)
        if (received !== undefined) return { status: 200, body: received }
        // What was leased is not wanted any more: what is may be behind it.
        const isMore = leased.length > 0 && performance.now() < untilMs && !isClosed()
        if (!(isMore || (await place.wait(untilMs, isClosed)))) {
          return { status: 200, body: { items: [], ...(await heldOf(deps, subscriptionId)) } }
        }
        subscription = await find()
      }
    } finally {
      place.leave()
    }
  },
}

async function heldOf({ held }: Pick<ReceiveRouteDeps, 'held'>, id: Subscription['id']) {
  const { count, leased, oldestAt } = await held.count(id)
  return { held: count - leased, oldestHeldAt: oldestAt }
}

/**
 * The answer with the leased deliveries; undefined: the client gets none of them. After the answer to a DELETE or a disable no
 * first attempt is handed out: the subscription is read again after the claim, and the answer relies on that read for no longer
 * than a worker's POST does (subscription-lease.ts), so nothing is read later. What is not wanted any more goes through the
 * pipeline, where a worker withdraws it or lets it expire.
 */
async function handOut(
  { subscriptions, held, signer, tokens, broker, redisNow }: ReceiveRouteDeps,
  { id, tenant }: Subscription,
  leased: readonly LeasedDelivery[],
  isClosed: () => boolean,
) {
  let rest = leased
  try {
    for (;;) {
      const askedAtMs = performance.now()
      const [subscription, stillHeld] = await Promise.all([subscriptions.find(tenant, id), heldOf({ held }, id)])
      if (isClosed() || (subscription !== undefined && isPaused(subscription, redisNow()))) {
        await held.release(id, rest.map(leaseOf))
        return undefined
      }
      // No client can receive the deliveries of a deleted subscription.
      const unwanted = rest.filter(({ delivery }) => !subscription || !isSent(subscription, delivery, redisNow()))
      const wanted = rest.filter((each) => !unwanted.includes(each))
      const items = wanted.map((each) => ({
        ...itemOf(each, subscription, signer),
        leaseToken: tokens.of(id, each.delivery.deliveryId, each.lease),
      }))
      await Promise.all(unwanted.map(({ delivery }) => broker.publishYielding(delivery)))
      // What is published is neither published again nor given back, however slow the broker is.
      rest = wanted
      // No client has this lease. If it lapsed before a worker has the delivery, it would count as an attempt.
      await held.forget(unwanted.map(({ delivery }) => delivery))
      await held.remove(
        id,
        'leased',
        unwanted.map(({ delivery: { deliveryId }, lease }) => ({ deliveryId, score: lease })),
      )
      if (isLeaseValid(leaseEndsAt(askedAtMs), performance.now()))
        return items.length === 0 ? undefined : { items, ...stillHeld }
    }
  } catch (error) {
    // Without Redis, the leases end.
    await held.release(id, rest.map(leaseOf)).catch(() => undefined)
    throw error
  }
}

const leaseOf = ({ delivery: { deliveryId }, lease }: LeasedDelivery) => ({ deliveryId, lease })

/** @throws AppError `secret-unavailable` */
function itemOf({ delivery, lease }: LeasedDelivery, subscription: Subscription | undefined, signer: Signer): object {
  const { signing: _, ...unsigned } = delivery
  const current = {
    ...unsigned,
    ...(subscription?.signing !== undefined && { signing: subscription.signing }),
    ...(leavesGaps(subscription?.filter, delivery.eventType) && { isSparse: true as const }),
  }
  if (!signer.canSign(current)) throw new AppError('secret-unavailable')
  const attempt = delivery.attempt + 1
  return {
    deliveryId: delivery.deliveryId,
    attempt,
    leasedUntil: new Date(leaseTimes(lease).endsAtMs).toISOString(),
    headers: attemptHeaders(current, attempt, signer.headersOf),
    body: delivery.body.toString(),
  }
}
