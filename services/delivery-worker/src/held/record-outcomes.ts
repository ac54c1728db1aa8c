import { type Delivery, type OutcomeBatch, parseOutcomeBatch, type ReportedOutcome } from '@switchhook/contracts'
import { type Consumer, Queue } from '@switchhook/messaging'
import type { Consume } from '@switchhook/service'
import { chunksOf, type HeldMessage, type HeldStore, type OutcomeStore } from '@switchhook/store'
import type { Notices } from '../notices/notices.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { answerExcerpt } from '../policy/answer-excerpt.ts'
import { resultOf } from '../policy/classify.ts'
import type { HeldLimit } from './held-limit.ts'

interface RecordOutcomesDeps extends RecordingDeps {
  readonly held: Pick<HeldStore, 'read' | 'remove'>
  readonly outcomes: Pick<OutcomeStore, 'recorded'>
}

const CONCURRENT_BATCHES = 10
/** Of a batch, which has up to 100 outcomes. Their messages have 256 KiB at most: a worker holds 64 MB of them. */
export const READ_AT_ONCE = 25

/** Records what clients report of deliveries that they have received: each outcome takes the stages that follow a POST. */
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
  consume({
    queue: Queue.reportedOutcomes,
    concurrency: CONCURRENT_BATCHES,
    parse: ({ content }) => parseOutcomeBatch(content),
    handle: record,
  })

export interface RecordingDeps {
  readonly conclude: Pipeline['conclude']
  readonly listAgain: HeldLimit['listAgain']
  readonly noticeIfParked: Notices['noticeIfParked']
}

/** Records what a client has reported. It can be repeated, because it is recorded only for the message that was handed out. */
export async function recordOutcome(
  deps: RecordingDeps,
  reported: ReportedOutcome,
  message: HeldMessage | undefined,
): Promise<void> {
  const { token, outcome } = reported
  // A success always counts.
  if (message !== undefined && (message.delivery.token === token || outcome.kind === 'delivered')) {
    return await concludeReceived(deps, message.delivery, reported)
  }
  // It is held again: the caller lists it.
  if (message !== undefined) return
  // It has gone on. Its notice may be missing.
  await deps.noticeIfParked(reported)
}

/** Takes a received delivery through the stages that follow a POST. */
export async function concludeReceived(
  { conclude }: Pick<RecordingDeps, 'conclude'>,
  received: Delivery,
  { attempt, at, durationMs, outcome }: Pick<ReportedOutcome, 'attempt' | 'at' | 'durationMs' | 'outcome'>,
): Promise<void> {
  const { run, slot } = received
  // As of a POST: without secrets, and not longer.
  const said = outcome.kind === 'answered' ? answerExcerpt(Buffer.from(outcome.answer ?? ''), true) : undefined
  const answer = said !== undefined && { answer: said }
  const made = { run, slot, attempt, at, durationMs, ...resultOf(outcome), ...answer }
  await conclude({ via: 'pull', delivery: received, outcome, attempt: made })
}
