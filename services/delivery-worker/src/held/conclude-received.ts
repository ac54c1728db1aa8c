import type { Delivery, ReportedOutcome } from '@switchhook/contracts'
import type { DeliveryArchive, HeldMessage } from '@switchhook/store'
import { conclude, type DeliverDeps } from '../pipeline/steps.ts'
import { answerExcerpt } from '../policy/answer-excerpt.ts'
import { resultOf } from '../policy/classify.ts'
import { noticeIfParked } from './park-excess.ts'

export interface RecordOutcomeDeps {
  readonly worker: DeliverDeps
  readonly archive: Pick<DeliveryArchive, 'find'>
}

/** Records what a client has reported. It can be repeated, because it is recorded only for the message that was handed out. */
export async function recordOutcome(
  { worker, archive }: RecordOutcomeDeps,
  reported: ReportedOutcome,
  message: HeldMessage | undefined,
): Promise<void> {
  const { token, outcome } = reported
  // A success always counts.
  if (message !== undefined && (message.delivery.token === token || outcome.kind === 'delivered')) {
    return await concludeReceived(worker, message.delivery, reported)
  }
  // It is held again: the caller lists it.
  if (message !== undefined) return
  // It has gone on. Its notice may be missing.
  await noticeIfParked({ archive, noticeParked: worker.noticeParked }, reported)
}

/** Takes a received delivery through the steps that follow a POST. */
export async function concludeReceived(
  worker: DeliverDeps,
  received: Delivery,
  { attempt, at, durationMs, outcome }: Pick<ReportedOutcome, 'attempt' | 'at' | 'durationMs' | 'outcome'>,
): Promise<void> {
  const { run, slot } = received
  // As of a POST: without secrets, and not longer.
  const said = outcome.kind === 'answered' ? answerExcerpt(Buffer.from(outcome.answer ?? ''), true) : undefined
  const answer = said !== undefined && { answer: said }
  const made = { run, slot, attempt, at, durationMs, ...resultOf(outcome), ...answer }
  const delivery = { ...received, attempt }
  await conclude(worker, { kind: 'made', delivery, outcome, attempt: made, before: null })
}
