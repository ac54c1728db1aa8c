import type { Delivery, ReportedOutcome } from '@switchhook/contracts'
import type { DeliveryArchive, DeliveryStore, HeldMessage } from '@switchhook/store'
import type { Pipeline } from '../pipeline/deliver.ts'
import { answerExcerpt } from '../policy/answer-excerpt.ts'
import { resultOf } from '../policy/classify.ts'
import { noticeIfParked, type ParkExcessDeps } from './park-excess.ts'

export interface RecordOutcomeDeps {
  readonly conclude: Pipeline['conclude']
  readonly archive: Pick<DeliveryArchive, 'find'>
  readonly noticeParked: ParkExcessDeps['noticeParked']
  /** Lists a held delivery again, and parks what then exceeds a limit. */
  readonly listAgain: (...message: Parameters<DeliveryStore['listAgain']>) => Promise<void>
}

/** Records what a client has reported. It can be repeated, because it is recorded only for the message that was handed out. */
export async function recordOutcome(
  deps: RecordOutcomeDeps,
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
  await noticeIfParked(deps, reported)
}

/** Takes a received delivery through the steps that follow a POST. */
export async function concludeReceived(
  { conclude }: Pick<RecordOutcomeDeps, 'conclude'>,
  received: Delivery,
  { attempt, at, durationMs, outcome }: Pick<ReportedOutcome, 'attempt' | 'at' | 'durationMs' | 'outcome'>,
): Promise<void> {
  const { run, slot } = received
  // As of a POST: without secrets, and not longer.
  const said = outcome.kind === 'answered' ? answerExcerpt(Buffer.from(outcome.answer ?? ''), true) : undefined
  const answer = said !== undefined && { answer: said }
  const made = { run, slot, attempt, at, durationMs, ...resultOf(outcome), ...answer }
  await conclude({ via: 'pull', delivery: { ...received, attempt }, outcome, attempt: made })
}
