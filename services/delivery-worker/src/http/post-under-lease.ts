import { type Delivery, isLeaseValid, type Outcome, Unavailable } from '@switchhook/contracts'
import type { Admission, Lease } from '../policy/admit.ts'
import type { Withheld } from '../policy/decide.ts'

/** The limits of one POST under a lease. */
export interface PostTerms {
  /** The end of the lease: the request is not written from then on. Monotonic, in ms. */
  readonly trustedUntilMs: number
  readonly timeoutMs: number
  /** The same attempt broke on a reused connection before, so it needs a fresh one. */
  readonly isReplay: boolean
}

/** The lease ended while the connection was being made. Nothing has been written under it. */
export interface LeaseExpired {
  readonly kind: 'lease-expired'
  /** The outcome of this attempt's first connection, if one broke before an answer. */
  readonly broken?: Outcome
}

/** The lease was renewed before the POST. `delivery` is the one that was sent; its url and secret may have changed. */
interface Readmitted {
  readonly kind: 'readmitted'
  readonly delivery: Delivery
  readonly outcome: Outcome
}

/** The result of an attempt. A `Withheld` means that no attempt was made. */
export type Posted = Outcome | Withheld | Readmitted

export interface PostUnderLeaseDeps {
  /** Deadline of the whole attempt, renewals included. */
  readonly timeoutMs: number
  readonly post: (delivery: Delivery, attempt: number) => Promise<Outcome>
  readonly postLeased: (delivery: Delivery, attempt: number, terms: PostTerms) => Promise<Outcome | LeaseExpired>
  /** Reads the subscription again. Rejects if Redis is away. */
  readonly renew: (delivery: Delivery) => Promise<Admission>
  /** Monotonic, in ms. */
  readonly nowMs: () => number
}

const TIMED_OUT: Outcome = { kind: 'unreachable', reason: 'timeout' }

/**
 * Makes one attempt. A first attempt is written only while its lease is valid, so none is sent after the answer to a
 * DELETE, however long name look-up and connecting take. If the lease has ended when the connection is ready, one round
 * trip renews it and the request uses the open connection. A renewal counts neither as an attempt nor as a failure.
 * Retries need no lease: they keep their schedule even if the subscription is deleted.
 * @throws Unavailable if, until the deadline, every reading of the subscription takes longer than a lease. The endpoint has
 *   not failed, so the delivery must come back without an attempt.
 */
export function createPostUnderLease({ timeoutMs, post, postLeased, renew, nowMs }: PostUnderLeaseDeps) {
  return async (due: Delivery, attempt: number, lease: Lease | undefined): Promise<Posted> => {
    if (due.attempt > 0) return post(due, attempt)
    const deadlineAtMs = nowMs() + timeoutMs
    const sent = await postLeased(due, attempt, { trustedUntilMs: trustOf(lease), timeoutMs, isReplay: false })
    if (sent.kind !== 'lease-expired') return sent
    return postRenewed(due, attempt, deadlineAtMs, sent.broken)
  }

  async function postRenewed(
    due: Delivery,
    attempt: number,
    deadlineAtMs: number,
    brokenBefore: Outcome | undefined,
  ): Promise<Posted> {
    let broken = brokenBefore
    for (;;) {
      const { admitted: delivery, lease } = await renew(due)
      // The request was written once and broke: a failed attempt, which keeps its schedule.
      if ('kind' in delivery) return broken ?? delivery
      const trustedUntilMs = trustOf(lease)
      const leftMs = deadlineAtMs - nowMs()
      const isLate = !isLeaseValid(trustedUntilMs, nowMs())
      if (isLate && leftMs > 0) continue
      if (isLate && broken === undefined) throw tooSlow()
      const terms = { trustedUntilMs, timeoutMs: leftMs, isReplay: broken !== undefined }
      const sent = leftMs > 0 ? await postLeased(delivery, attempt, terms) : (broken ?? TIMED_OUT)
      if (sent.kind !== 'lease-expired') return { kind: 'readmitted', delivery, outcome: sent }
      broken ??= sent.broken
    }
  }
}

const tooSlow = (): Unavailable => new Unavailable('redis', 'reading the subscription takes longer than its lease')

const trustOf = (lease: Lease | undefined): number => lease?.trustedUntilMs ?? -Infinity
