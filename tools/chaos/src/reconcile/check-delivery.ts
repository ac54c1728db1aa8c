import { CONFIRM_TIMEOUT_MS } from '@switchhook/messaging'
import { isAcknowledgement, isRolledBack, type Observation, type Post, type Span } from './observation.ts'
import type { Problem } from './problem.ts'

/** A dead peer is detected by a heartbeat or a timeout, so an effect of a fault may appear this much later. */
const AFTERMATH_MS = 30_000
/** More often than any number of faults in one attempt: duplicates have multiplied. */
const MAX_REPEATS = 10
/** Duplicates of an event wait in two queues before its first attempts, on a slow machine for half a minute. */
const QUEUED_MS = 30_000

/**
 * Checks the POSTs of one delivery, in order of arrival: their signatures, that body and lasting headers are the same in
 * each, and the numbers of the attempts (README.md, Attempts). Attempts are counted over all runs.
 * @param publishes how many times the event was published
 */
export function checkDelivery(
  posts: readonly Post[],
  publishes: number,
  { disturbances, lapses }: Pick<Observation, 'disturbances' | 'lapses'>,
) {
  const problems: Problem[] = []
  const [first] = posts
  /** The time of the first POST of each attempt. */
  const madeAtMs = new Map<number, number>()
  const released = new Set<number>()
  const repeats = new Map<number, number>()
  let firstAttemptsLeft = publishes
  let highest = 0
  let isAcknowledged = false
  /** POSTs after the delivery was acknowledged. */
  let duplicates = 0
  /** POSTs whose attempt number was lower than an earlier one, each explained by a disturbance. */
  let stepsBack = 0
  /** POSTs that repeat an attempt around a fault that leaves two duplicates of a message. */
  let repeatedAttempts = 0
  /** Repeats of a parked notice with another body, after Redis had lost the record of the first. */
  let changedNotices = 0
  for (const post of posts) {
    const { attempt, atMs } = post
    const what = `${post.deliveryId} at ${post.endpoint}`
    const add = (kind: Problem['kind'], more: string): void => void problems.push({ kind, what: `${what}${more}` })
    if (post.digest !== first?.digest) {
      // After a rollback, a delivery can be attempted and parked again in the same run: its notice then lists other attempts,
      // and has the time of another record (ADR 0034).
      const wasLost = [first, post].some((one) => one !== undefined && isRolledBack(lapses, one.occurredAtMs))
      if (post.content.kind === 'parked' && wasLost) changedNotices += 1
      else add('body changed', `, attempt ${attempt}${occurrencesOf(first, post)}`)
    }
    if (post.lasting !== first?.lasting) add('headers changed', `, attempt ${attempt}`)
    for (const flaw of post.flaws) add('signature or headers', `: ${flaw}`)
    if (!Number.isInteger(attempt) || attempt < 1) add('attempt number', ` says ${attempt}`)

    const firstAtMs = madeAtMs.get(attempt)
    if (firstAtMs === undefined) madeAtMs.set(attempt, atMs)
    // What was released is made again.
    const isOwed = released.delete(attempt) || (attempt === 1 ? firstAttemptsLeft-- > 0 : firstAtMs === undefined)
    if (post.isReleased) released.add(attempt)
    // The first attempt of an event that was published again may arrive late.
    if (attempt < highest && !(attempt === 1 && isOwed)) {
      // A worker that dies, or loses Redis, after the retry is confirmed and before the slot is settled leaves the slot.
      if (liesBetween(disturbances, first?.atMs ?? 0, atMs, AFTERMATH_MS)) stepsBack += 1
      else add('attempt number', ` says ${attempt} after ${highest}`)
    }
    if (!isOwed) {
      const duplicates = disturbances.filter((one) => (attempt === 1 ? one.duplicatesEvents : one.duplicatesMessages))
      const lateMs = CONFIRM_TIMEOUT_MS + (attempt === 1 ? QUEUED_MS : 0)
      const hasDuplicates = liesBetween(duplicates, firstAtMs ?? 0, atMs, lateMs)
      const count = (repeats.get(attempt) ?? 0) + 1
      repeats.set(attempt, count)
      if (count <= MAX_REPEATS && hasDuplicates) repeatedAttempts += 1
      else add('attempt repeated', `, attempt ${attempt}, at ${timeOf(firstAtMs ?? atMs)} and ${timeOf(atMs)}`)
    }
    if (isAcknowledged) duplicates += 1
    highest = Math.max(highest, attempt)
    isAcknowledged ||= isAcknowledgement(post)
  }
  return { problems, duplicates, stepsBack, repeatedAttempts, changedNotices }
}

/** When each of the two arrived, and when its event occurred according to its body. */
const occurrencesOf = (first: Post | undefined, post: Post): string =>
  [first ?? post, post].map(({ atMs, occurredAtMs }) => `, at ${timeOf(atMs)} of ${timeOf(occurredAtMs)}`).join('')

const timeOf = (atMs: number): string => new Date(atMs).toISOString().slice(11, 23)

const liesBetween = (spans: readonly Span[], afterMs: number, beforeMs: number, aftermathMs: number): boolean =>
  spans.some(({ fromMs, toMs }) => fromMs <= beforeMs && toMs + aftermathMs >= afterMs)
