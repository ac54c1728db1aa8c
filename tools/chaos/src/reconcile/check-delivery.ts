import type { Disturbance, Lapse, Post } from './observation.ts'
import type { Problem } from './reconcile.ts'

export interface DeliveryJudgement {
  readonly problems: readonly Problem[]
  readonly duplicates: number
  readonly stepsBack: number
  /** Repeats of a parked notice with another content, after Redis had lost the parked record. */
  readonly retold: number
}

/** Dead peers are noticed by heartbeats and timeouts: what a fault has upset may show only so much later. */
const AFTERMATH_MS = 30_000

/**
 * Of the POSTs of one delivery in the order of their arrival:
 *
 * - each is signed, and its headers say what its body says;
 * - the bytes of the body, and what of the headers has to, are the same in all of them. Only a parked notice may differ after a
 *   rollback of Redis: its delivery can be attempted and parked once more in the same run, and then the notice, which has the
 *   same id, tells of other attempts (ADR 0034);
 * - attempt numbers are whole and count from 1;
 * - none is lower than one before. Only a fault can explain it, as its worker may have died, or may have lost the store,
 *   after the next attempt was safe with the broker and before the slot was settled: then that slot is done once more. So
 *   a step back counts as explained if a disturbance lies between the delivery's first POST and the one that steps back.
 */
export function judgeDelivery(
  posts: readonly Post[],
  disturbances: readonly Disturbance[],
  lapses: readonly Lapse[],
): DeliveryJudgement {
  const problems: Problem[] = []
  const [first] = posts
  let highest = 0
  let isAcknowledged = false
  let duplicates = 0
  let stepsBack = 0
  let retold = 0
  const rollbacks = lapses.filter(({ kind }) => kind === 'rolled back')
  for (const post of posts) {
    const what = `${post.deliveryId} at ${post.endpoint}`
    if (post.digest !== first?.digest) {
      const isRetold = post.told.kind === 'parked' && liesBetween(rollbacks, first?.atMs ?? 0, post.atMs)
      if (isRetold) retold += 1
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
  return { problems, duplicates, stepsBack, retold }
}

const liesBetween = (
  spans: readonly { readonly fromMs: number; readonly toMs: number }[],
  afterMs: number,
  beforeMs: number,
): boolean => spans.some(({ fromMs, toMs }) => fromMs <= beforeMs && toMs + AFTERMATH_MS >= afterMs)
