import type { OutcomeBatch } from '@switchhook/contracts'
import type { HeldStore, OutcomeStore } from '@switchhook/store'
import { type RecordOutcomeDeps, recordOutcome } from './conclude-received.ts'

interface RecordOutcomesDeps extends RecordOutcomeDeps {
  readonly held: Pick<HeldStore, 'read' | 'remove'>
  readonly outcomes: Pick<OutcomeStore, 'recorded'>
}

export const CONCURRENT_BATCHES = 10

/** Records what clients report of deliveries that they have received: each outcome takes the steps that follow a POST. */
export function createRecordOutcomes(deps: RecordOutcomesDeps) {
  const { held, outcomes, listAgain } = deps

  return async ({ batchId, subscriptionId, items }: OutcomeBatch): Promise<void> => {
    const ids = items.map(({ deliveryId }) => deliveryId)
    const messages = await held.read(ids)
    await Promise.all(items.map((item, i) => recordOutcome(deps, item, messages[i])))
    const leases = items.map(({ deliveryId, lease: score }) => ({ deliveryId, score }))
    // One script for all: a repeat of the batch ends the leases after a crash.
    await held.remove(subscriptionId, 'leased', leases)
    // After the leases: one would count as an entry. The entry may be missing, because another worker has held the delivery
    // again and died, or its write was refused.
    const mayBeHeld = messages.flatMap((message, i) =>
      message === undefined || items[i]?.outcome.kind === 'delivered' ? [] : [message.delivery],
    )
    await Promise.all(mayBeHeld.map((delivery) => listAgain(delivery)))
    await outcomes.recorded(batchId)
  }
}
