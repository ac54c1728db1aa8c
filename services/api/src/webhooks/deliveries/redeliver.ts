import { randomUUID } from 'node:crypto'
import { AppError, factsOfState, type Subscription } from '@switchhook/contracts'
import type { DeliveryRecord, Sendable } from '@switchhook/store'
import type { WebhookParts } from '../stores.ts'
import { bodyFromJournal } from './event-body.ts'
import { type SendAgainDeps, sendAgain } from './send-again.ts'

export type RedeliverDeps = SendAgainDeps & Pick<WebhookParts, 'subscriptions' | 'deliveries' | 'journal' | 'held'>

/**
 * Sends a delivery again, unless an attempt of it is due now or a client has leased it: a new run of the schedule to the
 * subscription's current url, with the same id and body and a continued attempt count. The body of a delivery that is not
 * parked comes from the journal. A delivery that waits for its next attempt gets it now, and its schedule begins again.
 * Resolves to the delivery's new state once the broker has confirmed it. If a step fails, the delivery stays parked, or keeps
 * its schedule, and can be sent again; at worst the endpoint receives it twice. A repeated request sends the run of the first
 * request or nothing: a delivery that was parked again meanwhile stays parked. Of concurrent requests, one sends.
 * @param requestId the same for every repeat of the request; undefined: the request has no idempotency key and is never repeated
 * @throws AppError `delivery-not-parked`, `delivery-without-body`, `subscription-deleted` or `subscription-disabled`; Unavailable
 */
export async function redeliver(
  deps: RedeliverDeps,
  found: DeliveryRecord,
  requestId: string | undefined,
): Promise<DeliveryRecord> {
  const { deliveryId, run } = found
  const begunFrom = requestId === undefined ? undefined : await deps.deliveries.begunFrom(deliveryId, requestId)
  // The first request has sent the run and could not answer: its process died, or lost Redis or the broker.
  const isRepeated = begunFrom !== undefined
  if (isRepeated && found.isUnsent !== true && (isDue(found) || run !== begunFrom)) return found
  const subscription = await requireSendable(deps, found)
  const by = { sender: requestId ?? randomUUID(), isRequest: requestId !== undefined }
  const sent = await sendAgain(deps, deliveryId, by, subscription, await sendableOf(deps, found))
  if (sent.kind === 'sent') return sent.record
  // The first request has published the run, and a worker has settled it meanwhile.
  if (isRepeated && sent.kind === 'not-parked') return (await deps.deliveries.find(deliveryId)) ?? found
  if (sent.kind === 'busy') throw new AppError('delivery-not-parked', { detail: BUSY })
  throw new AppError(NOT_SENT[sent.kind])
}

/**
 * A lease is in another hash slot than the record, so a client can lease the delivery between this check and the new run. Its
 * outcome is then `lease-lost`, and the delivery is received once more.
 */
async function requireSendable({ subscriptions, held }: RedeliverDeps, found: DeliveryRecord): Promise<Subscription> {
  if (isDue(found)) throw new AppError('delivery-not-parked', { detail: 'An attempt of this delivery is due now.' })
  const { tenant, subscriptionId, deliveryId, state } = found
  const subscription = await subscriptions.find(tenant, subscriptionId)
  if (subscription === undefined) throw new AppError('subscription-deleted')
  if (!subscription.enabled) throw new AppError('subscription-disabled')
  // The leases of other subscriptions are of workers, and end in a moment.
  const isReceived = subscription.mode === 'pull' && state === 'held'
  const leasedUntilMs = isReceived ? await held.leasedUntil(subscriptionId, deliveryId) : null
  if (leasedUntilMs !== null) throw new AppError('delivery-not-parked', { detail: leased(leasedUntilMs) })
  return subscription
}

const NOT_SENT = {
  unknown: 'delivery-not-found',
  'without-body': 'delivery-without-body',
  'not-parked': 'delivery-not-parked',
} as const

/** Undefined: the delivery is parked with its body, which is all that sending it needs. */
async function sendableOf({ journal }: RedeliverDeps, found: DeliveryRecord): Promise<Sendable | undefined> {
  if (found.state === 'parked' && found.body !== null) return undefined
  const body = found.body ?? (await bodyFromJournal(journal, found))
  if (body === undefined) throw new AppError('delivery-without-body')
  return { which: 'any', body }
}

const leased = (untilMs: number): string =>
  `A client has leased this delivery until ${new Date(untilMs).toISOString()}. Report its outcome, or wait until then.`
export const BUSY = 'Another request is sending this delivery now.'

/** Its next attempt is about to be made or in progress. */
const isDue = ({ state, isUnsent }: DeliveryRecord): boolean => factsOfState(state).next === 'due' && isUnsent !== true
