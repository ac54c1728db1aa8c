import { CONFIRM_TIMEOUT_MS } from '@switchhook/messaging'
import { type Disturbance, isAcknowledgement, isRolledBack, type Observation, type Post } from './observation.ts'
import type { Problem } from './problem.ts'

export interface DeliveryCheck {
  readonly problems: readonly Problem[]
  /** POSTs of the delivery after it was acknowledged. */
  readonly duplicates: number
  /** POSTs whose attempt number was lower than an earlier one, each explained by a disturbance. */
  readonly stepsBack: number
  /** POSTs that repeat an attempt around a fault that leaves two copies of a message. */
  readonly repeatedAttempts: number
  /** Repeats of a parked notice with another body, after Redis had lost the record of the first. */
  readonly changedNotices: number
}

/** A dead peer is detected by a heartbeat or a timeout, so an effect of a fault may appear this much later. */
const AFTERMATH_MS = 30_000
/** More often than any number of faults in one attempt: copies have multiplied. */
const MAX_REPEATS = 10
/** Copies of an event wait in two queues before its first attempts, on a slow machine for half a minute. */
const QUEUED_MS = 30_000

/**
 * Checks the POSTs of one delivery, in order of arrival:
 *
 * - Each is signed, and its headers match its body.
 * - The body and the lasting headers are the same in every POST, with one exception after a rollback of Redis (ADR 0034): a
 *   delivery can be attempted and parked again in the same run, and its parked notice then lists other attempts.
 * - Attempt numbers are integers from 1.
 * - No attempt number is lower than an earlier one, except around a fault. A worker that dies, or loses Redis, after the
 *   retry is confirmed and before the slot is settled leaves the slot to be done again. A step back is therefore accepted
 *   if a disturbance lies between the first POST of the delivery and this one. The first attempt of an event that was
 *   published again may arrive late, too.
 * - An attempt that was released is made again.
 * - An attempt from the second on is otherwise made once, except around a fault that leaves two copies of a message: a process dies,
 *   or loses its connection to the broker. Such a fault lies between the first POST of this attempt and its repeat, or
 *   ended less than a confirm timeout before. Attempts are counted over all runs, so an attempt number names its run. Workers
 *   of an earlier version also repeat attempts of an event that was published twice.
 * - A first attempt is made at most as often as its event was published, except around a fault that leaves two copies of
 *   an event, or that long after it for which the copies can wait in queues.
 *
 * @param publishes how many times the event was published
 */
export function checkDelivery(
  posts: readonly Post[],
  publishes: number,
  observation: Pick<Observation, 'disturbances' | 'messageCopies' | 'eventCopies' | 'lapses' | 'oldWorkers'>,
): DeliveryCheck {
  const { disturbances, messageCopies, eventCopies, lapses, oldWorkers = [] } = observation
  let firstAttemptsLeft = publishes
  const problems: Problem[] = []
  const [first] = posts
  /** The time of the first POST of each attempt. */
  const madeAtMs = new Map<number, number>()
  let highest = 0
  const released = new Set<number>()
  let isAcknowledged = false
  let duplicates = 0
  let stepsBack = 0
  let repeatedAttempts = 0
  const repeats = new Map<number, number>()
  let changedNotices = 0
  for (const post of posts) {
    const what = `${post.deliveryId} at ${post.endpoint}`
    if (post.digest !== first?.digest) {
      // Such a notice carries the time of its record, which was lost with the rollback.
      const wasLost = [first, post].some((one) => one !== undefined && isRolledBack(lapses, one.occurredAtMs))
      const isAllowed = post.content.kind === 'parked' && wasLost
      if (isAllowed) changedNotices += 1
      else
        problems.push({ kind: 'body changed', what: `${what}, attempt ${post.attempt}${occurrencesOf(first, post)}` })
    }
    if (post.lasting !== first?.lasting) {
      problems.push({ kind: 'headers changed', what: `${what}, attempt ${post.attempt}` })
    }
    for (const flaw of post.flaws) problems.push({ kind: 'signature or headers', what: `${what}: ${flaw}` })
    if (!Number.isInteger(post.attempt) || post.attempt < 1) {
      problems.push({ kind: 'attempt number', what: `${what} says ${post.attempt}` })
    }
    const firstAtMs = madeAtMs.get(post.attempt)
    if (firstAtMs === undefined) madeAtMs.set(post.attempt, post.atMs)
    const isOwed =
      released.delete(post.attempt) || (post.attempt === 1 ? firstAttemptsLeft-- > 0 : firstAtMs === undefined)
    if (post.isReleased) released.add(post.attempt)
    if (post.attempt < highest && !(post.attempt === 1 && isOwed)) {
      if (liesBetween(disturbances, first?.atMs ?? 0, post.atMs, AFTERMATH_MS)) stepsBack += 1
      else problems.push({ kind: 'attempt number', what: `${what} says ${post.attempt} after ${highest}` })
    }
    if (!isOwed) {
      const isExcused = (copies: readonly Disturbance[], queuedMs = 0): boolean =>
        liesBetween(copies, firstAtMs ?? 0, post.atMs, CONFIRM_TIMEOUT_MS + queuedMs)
      const hasCopies =
        post.attempt === 1
          ? isExcused(eventCopies, QUEUED_MS)
          : isExcused(messageCopies) || (publishes > 1 && isExcused(oldWorkers))
      const count = (repeats.get(post.attempt) ?? 0) + 1
      repeats.set(post.attempt, count)
      if (count <= MAX_REPEATS && hasCopies) repeatedAttempts += 1
      else {
        const times = `${timeOf(madeAtMs.get(post.attempt) ?? post.atMs)} and ${timeOf(post.atMs)}`
        problems.push({ kind: 'attempt repeated', what: `${what}, attempt ${post.attempt}, at ${times}` })
      }
    }
    if (isAcknowledged) duplicates += 1
    highest = Math.max(highest, post.attempt)
    isAcknowledged ||= isAcknowledgement(post)
  }
  return { problems, duplicates, stepsBack, repeatedAttempts, changedNotices }
}

/** When each of the two arrived, and when its event occurred according to its body. */
const occurrencesOf = (first: Post | undefined, post: Post): string =>
  [first ?? post, post].map(({ atMs, occurredAtMs }) => `, at ${timeOf(atMs)} of ${timeOf(occurredAtMs)}`).join('')

const timeOf = (atMs: number): string => new Date(atMs).toISOString().slice(11, 23)

const liesBetween = (spans: readonly Disturbance[], afterMs: number, beforeMs: number, aftermathMs: number): boolean =>
  spans.some(({ fromMs, toMs }) => fromMs <= beforeMs && toMs + aftermathMs >= afterMs)
