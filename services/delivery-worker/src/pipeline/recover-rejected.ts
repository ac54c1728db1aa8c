import type { Delivery, SubscriptionId } from '@switchhook/contracts'
import type { DeliveryArchive, RejectionStore, StateStore } from '@switchhook/store'
import { LRUCache } from 'lru-cache'
import type { AfterSettled } from './pipeline.ts'
import { mayBeParked } from './progress.ts'

/** Rejections that are being parked are listed by then. */
const GRACE_MS = 1_000
/** More endpoints than reject deliveries within `ASKED_AGAIN_MS`. */
const MAX_ASKED = 10_000
/** The question is dropped while the subscription is disabled, and while an api handles the one before. */
const ASKED_AGAIN_MS = 60_000

/**
 * The worker's side of `recoverRejected` (ADR 0078). Rejects if Redis is away. If the worker dies before the question is stored,
 * the next 2xx asks it.
 */
export function createRecoverRejected(
  archive: Pick<DeliveryArchive, 'find'>,
  rejections: Pick<RejectionStore, 'record'>,
  state: Pick<StateStore, 'commit'>,
): AfterSettled {
  const asked = new LRUCache<SubscriptionId, string>({ max: MAX_ASKED, ttl: ASKED_AGAIN_MS })

  /** Records that the delivery is parked, if it was rejected in its first run: no delivery is sent again automatically twice. */
  async function recordRejection(delivery: Delivery): Promise<void> {
    const record = await archive.find(delivery.deliveryId)
    if (record?.state !== 'parked' || record.parkedReason !== 'rejected' || record.run > 1) return
    if (record.parkedAt !== null) await rejections.record(delivery, Date.parse(record.parkedAt))
  }

  /** Asks an api to recover these rejections (as stored): the endpoint has acknowledged a delivery. */
  async function askForRecovery({ tenant, subscriptionId }: Delivery, rejected: string): Promise<void> {
    if (asked.get(subscriptionId) === rejected) return
    // The first question counts: an endpoint that goes on rejecting some deliveries must not defer the recovery.
    const timer = { id: `rejected:${subscriptionId}`, dueInMs: GRACE_MS, payload: { subscriptionId }, isKept: true }
    await state.commit(tenant, { records: [], events: [], timers: [timer] })
    asked.set(subscriptionId, rejected)
  }

  return async (settled) => {
    const { delivery, rejected, result } = settled
    // Undefined: the subscription does not have the setting. Empty: no rejection is recorded.
    if (rejected === undefined) return
    if (result?.outcome.kind !== 'delivered') {
      if (mayBeParked(settled)) await recordRejection(delivery)
    } else if (rejected !== '') await askForRecovery(delivery, rejected)
  }
}
