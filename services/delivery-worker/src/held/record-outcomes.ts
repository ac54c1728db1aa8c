import { type OutcomeBatch, parseOutcomeBatch, type ReportedOutcome } from '@switchhook/contracts'
import { type Consumer, Queue } from '@switchhook/messaging'
import type { Consume } from '@switchhook/service'
import { chunksOf, type HeldStore, type OutcomeStore } from '@switchhook/store'
import { type RecordOutcomeDeps, recordOutcome } from './conclude-received.ts'

interface RecordOutcomesDeps extends RecordOutcomeDeps {
  readonly held: Pick<HeldStore, 'read' | 'remove'>
  readonly outcomes: Pick<OutcomeStore, 'recorded'>
}

const CONCURRENT_BATCHES = 10
/** Of a batch, which has up to 100 outcomes. Their messages have 256 KiB at most: a worker holds 64 MB of them. */
export const READ_AT_ONCE = 25

/** Records what clients report of deliveries that they have received: each outcome takes the steps that follow a POST. */
export function createRecordOutcomes(deps: RecordOutcomesDeps) {
  const { held, outcomes, listAgain } = deps

  return async ({ batchId, tenant, subscriptionId, items }: OutcomeBatch): Promise<void> => {
    const mayBeHeld: ReportedOutcome[] = []
    for (const some of chunksOf(items, READ_AT_ONCE)) {
      const messages = await held.read(some.map(({ deliveryId }) => deliveryId))
      await Promise.all(some.map((item, i) => recordOutcome(deps, item, messages[i])))
      mayBeHeld.push(...some.filter(({ outcome }, i) => messages[i] !== undefined && outcome.kind !== 'delivered'))
    }
    const leases = items.map(({ deliveryId, lease: score }) => ({ deliveryId, score }))
    // One script for all: a repeat of the batch ends the leases after a crash.
    await held.remove(subscriptionId, 'leased', leases)
    // After the leases: one would count as an entry. The entry may be missing, because another worker has held the delivery
    // again and died, or its write was refused.
    await Promise.all(mayBeHeld.map(({ deliveryId }) => listAgain({ deliveryId, tenant, subscriptionId })))
    await outcomes.recorded(batchId)
  }
}

export const consumeOutcomes = (consume: Consume, record: ReturnType<typeof createRecordOutcomes>): Promise<Consumer> =>
  consume(Queue.reportedOutcomes, CONCURRENT_BATCHES, ({ content }) => parseOutcomeBatch(content), record)
