import type { OutcomeBatch, ReportedOutcome } from '@switchhook/contracts'
import type { DeliveryArchive, HeldMessage, HeldStore, OutcomeStore } from '@switchhook/store'
import type { DeliverDeps } from '../pipeline/steps.ts'
import { concludeReceived } from './conclude-received.ts'
import { noticeIfParked } from './park-excess.ts'

interface RecordOutcomesDeps {
  readonly worker: DeliverDeps
  readonly held: Pick<HeldStore, 'read' | 'remove'>
  readonly archive: Pick<DeliveryArchive, 'find'>
  readonly outcomes: Pick<OutcomeStore, 'recorded'>
}

export const CONCURRENT_BATCHES = 10

/**
 * Records what clients report of deliveries that they have received: each outcome takes the steps that follow a POST. A
 * batch can be repeated, because an outcome is recorded only for the message that was handed out.
 */
export function createRecordOutcomes({ worker, held, archive, outcomes }: RecordOutcomesDeps) {
  async function record(item: ReportedOutcome, message: HeldMessage | undefined): Promise<void> {
    const { token, outcome } = item
    // A success always counts, also one that arrives after the end of its lease.
    if (message !== undefined && (message.delivery.token === token || outcome.kind === 'delivered')) {
      return await concludeReceived(worker, message.delivery, item)
    }
    // It is held again: listed below.
    if (message !== undefined) return
    // It has gone on. Its notice may be missing.
    await noticeIfParked({ archive, noticeParked: worker.noticeParked }, item)
  }

  return async ({ batchId, subscriptionId, items }: OutcomeBatch): Promise<void> => {
    const ids = items.map(({ deliveryId }) => deliveryId)
    const messages = await held.read(ids)
    await Promise.all(items.map((item, i) => record(item, messages[i])))
    const leases = items.map(({ deliveryId, lease: score }) => ({ deliveryId, score }))
    // One script for all: a repeat of the batch ends the leases after a crash.
    await held.remove(subscriptionId, 'leased', leases)
    // After the leases: one would count as an entry. The entry may be missing, because another worker has held the delivery
    // again and died, or its write was refused.
    const mayBeHeld = messages.flatMap((message, i) =>
      message === undefined || items[i]?.outcome.kind === 'delivered' ? [] : [message.delivery],
    )
    await Promise.all(mayBeHeld.map((delivery) => worker.listAgain(delivery)))
    await outcomes.recorded(batchId)
  }
}
