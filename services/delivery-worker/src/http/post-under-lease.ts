import { type Delivery, isLeaseValid, type Outcome, Unavailable } from '@switchhook/contracts'
import type { Admission, Lease } from '../policy/admit.ts'
import type { Withheld } from '../policy/decide.ts'

/** What one POST under a lease must keep to. */
export interface PostTerms {
  /** The request is not written from then on; monotonic, in ms. */
  readonly trustedUntilMs: number
  readonly timeoutMs: number
  /** The same attempt broke on a kept connection before, so it goes straight to a fresh one. */
  readonly isReplay: boolean
}

/** The lease ran out while the connection was made. Nothing was written since. */
export interface LeaseExpired {
  readonly kind: 'lease-expired'
  /** The connection that carried this attempt first broke before an answer. */
  readonly broken?: Outcome
}

/** The lease was renewed meanwhile, and `delivery` is what was sent: it may have another url and another secret. */
interface Readmitted {
  readonly kind: 'readmitted'
  readonly delivery: Delivery
  readonly outcome: Outcome
}

/** The result of an attempt; withheld: no attempt was made. */
export type Posted = Outcome | Withheld | Readmitted

export interface PostUnderLeaseDeps {
  /** Deadline of the whole attempt, renewals included. */
  readonly timeoutMs: number
  readonly post: (delivery: Delivery, attempt: number) => Promise<Outcome>
  readonly postLeased: (delivery: Delivery, attempt: number, terms: PostTerms) => Promise<Outcome | LeaseExpired>
  /** Reads the subscription again; rejects if that is not possible now. */
  readonly renew: (delivery: Delivery) => Promise<Admission>
  /** Monotonic, in ms. */
  readonly nowMs: () => number
}

const TIMED_OUT: Outcome = { kind: 'unreachable', reason: 'timeout' }

/**
 * Makes one attempt. A first attempt is written only while its lease is valid, so that none leaves after a DELETE was
 * answered, however long name look-up and connecting took. A lease that has run out by then is renewed with one round
 * trip, and the request goes to the connection that is now open. A renewal is no attempt and no failure. Retries need no
 * lease: they keep their schedule whatever becomes of the subscription.
 * @throws Unavailable when reading the subscription takes longer than a lease until the deadline: the endpoint has not
 *   failed, so the delivery must come back without an attempt
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
      // An attempt that has left once and broke is a failed attempt, and keeps its schedule.
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

const tooSlow = (): Unavailable =>
  new Unavailable('redis', 'reading a subscription takes longer than a first attempt may rely on it')

const trustOf = (lease: Lease | undefined): number => lease?.trustedUntilMs ?? -Infinity
