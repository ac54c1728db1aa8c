import type { Delivery, ReportedOutcome } from '@switchhook/contracts'
import { conclude, type DeliverDeps } from '../pipeline/steps.ts'
import { answerExcerpt } from '../policy/answer-excerpt.ts'
import { resultOf } from '../policy/classify.ts'

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
