import { type Disturbance, isRolledBack, type Lapse, type Post } from './observation.ts'
import type { Problem } from './problem.ts'

export interface DeliveryCheck {
  readonly problems: readonly Problem[]
  readonly duplicates: number
  readonly stepsBack: number
  /** Repeats of a parked notice with another body, after Redis had lost the parked record. */
  readonly changedNotices: number
}

/** A dead peer is detected by a heartbeat or a timeout, so an effect of a fault may appear this much later. */
const AFTERMATH_MS = 30_000

/**
 * Checks the POSTs of one delivery, in order of arrival:
 *
 * - Each is signed, and its headers match its body.
 * - The body and the lasting headers are the same in every POST. One exception: after a rollback of Redis, a delivery can
 *   be attempted and parked again in the same run. Its parked notice then has the same id and lists other attempts
 *   (ADR 0034).
 * - Attempt numbers are integers from 1.
 * - No attempt number is lower than an earlier one, except around a fault. A worker that dies, or loses Redis, after the
 *   retry is confirmed and before the slot is settled leaves the slot to be done again. A step back is therefore accepted
 *   if a disturbance lies between the first POST of the delivery and this one.
 */
export function checkDelivery(
  posts: readonly Post[],
  disturbances: readonly Disturbance[],
  lapses: readonly Lapse[],
): DeliveryCheck {
  const problems: Problem[] = []
  const [first] = posts
  let highest = 0
  let isAcknowledged = false
  let duplicates = 0
  let stepsBack = 0
  let changedNotices = 0
  for (const post of posts) {
    const what = `${post.deliveryId} at ${post.endpoint}`
    if (post.digest !== first?.digest) {
      // The notices carry the times of their parked records: one was lost with the rollback.
      const wasLost = [first, post].some((one) => one !== undefined && isRolledBack(lapses, one.occurredAtMs))
      const isAllowed = post.content.kind === 'parked' && wasLost
      if (isAllowed) changedNotices += 1
      else problems.push({ kind: 'body changed', what: `${what}, attempt ${post.attempt}` })
    }
    if (post.lasting !== first?.lasting) {
      problems.push({ kind: 'headers changed', what: `${what}, attempt ${post.attempt}` })
    }
    for (const flaw of post.flaws) problems.push({ kind: 'signature or headers', what: `${what}: ${flaw}` })
    if (!Number.isInteger(post.attempt) || post.attempt < 1) {
      problems.push({ kind: 'attempt number', what: `${what} says ${post.attempt}` })
    }
    if (post.attempt < highest) {
      if (liesBetween(disturbances, first?.atMs ?? 0, post.atMs)) stepsBack += 1
      else problems.push({ kind: 'attempt number', what: `${what} says ${post.attempt} after ${highest}` })
    }
    if (isAcknowledged) duplicates += 1
    highest = Math.max(highest, post.attempt)
    isAcknowledged ||= post.status !== null && post.status >= 200 && post.status < 300
  }
  return { problems, duplicates, stepsBack, changedNotices }
}

const liesBetween = (
  spans: readonly { readonly fromMs: number; readonly toMs: number }[],
  afterMs: number,
  beforeMs: number,
): boolean => spans.some(({ fromMs, toMs }) => fromMs <= beforeMs && toMs + AFTERMATH_MS >= afterMs)
