import { setTimeout as sleep } from 'node:timers/promises'
import { type Delivery, isLeaseValid, type Outcome, type Subscription, Unavailable } from '@switchhook/contracts'
import { type Deadline, runningMs as runningClockMs } from '@switchhook/runtime'
import type { Clocks } from '../clocks.ts'
import type { Reading } from '../endpoint/admit.ts'
import type { Withheld } from '../policy/decide.ts'

export interface PostTerms {
  /** The end of the lease: the request is not written from then on. Monotonic, in ms. */
  readonly trustedUntilMs: number
  /** Of the whole attempt, renewals included. A stall of the process extends it, but never the lease. */
  readonly deadline: Deadline
  /** The same attempt broke on a kept connection before, so it needs a fresh one, and is not repeated again. */
  readonly replayOf?: Broken | undefined
  /** Values of headers that an answer may repeat. They are redacted in its excerpt. */
  readonly hidden?: readonly string[]
}

/**
 * A result that is not the outcome of the attempt yet. `lease-expired`: the lease ended while the connection was being made, so
 * nothing has been written under it.
 */
export type Unfinished = Broken | { readonly kind: 'lease-expired' }

/**
 * The server closed a kept connection just when the request was written to it, or was about to be; or something arrived on it
 * that is no answer. The request may be sent once more: the delivery id is its idempotency key.
 */
export interface Broken {
  readonly kind: 'broken'
  /** Of the attempt, unless its replay has one. */
  readonly outcome: Outcome
  /** What the subscriber should know of it if the replay is answered. */
  readonly detail?: string
}

export interface Posted {
  readonly kind: 'posted'
  /** As it was sent: if the lease was renewed before, its url and secret may have changed. */
  readonly delivery: Delivery
  readonly outcome: Outcome
  /** What the endpoint took, from name look-up to answer, without waits for Redis and stalls of this process. */
  readonly durationMs: number
}

/**
 * Takes the permit that writing the request needs. Resolves to the end of its validity, monotonic, in ms; undefined: none is free.
 * @param wasWritten the request has been written under the former permit
 * @param limited the subscription, if it was read again: its limits may have changed
 */
export type TakePermit = (wasWritten: boolean, limited?: Subscription) => Promise<number | undefined>

interface AttemptOptions {
  /** Absent: the subscription has no limits. */
  readonly take?: TakePermit | undefined
  /** Called when a request is written. The returned function is called once the endpoint has answered or failed. */
  readonly writing?: () => () => void
}

export type PostUnderLease = ReturnType<typeof createPostUnderLease>

export interface PostUnderLeaseDeps extends Pick<Clocks, 'nowMs'> {
  readonly startDeadline: () => Deadline
  readonly writeWithin: (delivery: Delivery, attempt: number, terms: PostTerms) => Promise<Outcome | Unfinished>
  readonly renew: Renew
  /** Before the next renewal, if one came after the end of its lease. */
  readonly wait?: (ms: number) => Promise<void>
  /** A clock that a stall of this process hardly moves on. */
  readonly runningMs?: () => number
}

/** Reads the subscription again. Rejects if Redis is away. */
export type Renew = (delivery: Delivery) => Promise<LeaseReading>

type LeaseReading = Pick<Reading, 'admission' | 'trustedUntilMs' | 'limited'>

/** A worker visits a subscription that has no free permit, in case that no POST ends before. */
const LIMITED: Withheld = { kind: 'held', visitInMs: 100 }

/** A stall of this process, too, makes a renewal late. More in a row come from a slow Redis: then the consumer waits. */
const MAX_LATE = 3

/** More reads at once would make a slow Redis slower. */
const LATE_WAIT_MS = 250

const TIMED_OUT: Outcome = { kind: 'unreachable', reason: 'timeout' }

/**
 * Makes one attempt. It is written only while its lease is valid, however long name look-up and connecting take: so no first
 * attempt is sent after the answer to a DELETE, and none is signed with a secret that was revoked. If the lease has ended when
 * the connection is ready, one round trip renews it and the request uses the open connection. If a kept connection breaks, the
 * request is sent once more, on a fresh one. Neither a renewal nor a replay counts as an attempt or as a failure. A retry keeps
 * its schedule even if the subscription is deleted, and uses its last secret.
 * @throws Unavailable if `MAX_LATE` renewals in a row take longer than a lease, or if one does and the deadline has passed. The
 *   endpoint has not failed, so the delivery must come back without an attempt.
 */
export function createPostUnderLease(deps: PostUnderLeaseDeps) {
  const { startDeadline, writeWithin, renew, nowMs, wait = sleep, runningMs = runningClockMs } = deps

  /**
   * Writes the request, once its connection is open, under a lease that is valid then. Until then it reads again. A `Withheld`
   * means that no attempt was made.
   *
   * | it ends when | with |
   * | --- | --- |
   * | the endpoint has answered or failed | the outcome |
   * | the subscription withholds the delivery | the reason |
   * | no permit is free, or the limits are younger than the attempt | `LIMITED` |
   * | the deadline has passed under a valid lease | a timeout |
   * | the lease has ended, and the deadline has passed or `MAX_LATE` renewals were late | `Unavailable` |
   *
   * After a write that broke, all but the first end with its outcome.
   *
   * @param trustedUntilMs the end of the lease under which the delivery was admitted
   */
  return async (
    due: Delivery,
    attempt: number,
    trustedUntilMs: number,
    { take, writing }: AttemptOptions = {},
  ): Promise<Posted | Withheld> => {
    const deadline = startDeadline()
    let read: LeaseReading = { admission: { kind: 'admitted', delivery: due }, trustedUntilMs }
    /** The write that the next one repeats, and what the attempt comes to without it. */
    let broken: { readonly sent: Broken; readonly posted: Posted } | undefined
    let durationMs = 0
    /** Renewals in a row that came after the end of their lease. */
    let late = 0

    const postedOf = (delivery: Delivery, outcome: Outcome): Posted => ({
      kind: 'posted',
      delivery,
      outcome,
      durationMs: Math.round(durationMs),
    })

    try {
      for (;;) {
        const { admission, limited } = read
        if (admission.kind !== 'admitted') return broken?.posted ?? admission
        const { delivery } = admission
        let untilMs = read.trustedUntilMs
        // The subscription has got limits since this attempt began.
        if (take === undefined && limited !== undefined) return broken?.posted ?? LIMITED
        // Under a reading that has ended, a permit would be taken in vain.
        if (take !== undefined && isLeaseValid(untilMs, nowMs())) {
          const permittedUntilMs = await take(broken !== undefined, limited)
          if (permittedUntilMs === undefined) return broken?.posted ?? LIMITED
          untilMs = Math.min(untilMs, permittedUntilMs)
        }
        if (isLeaseValid(untilMs, nowMs())) {
          late = 0
          if (deadline.hasPassed) return broken?.posted ?? postedOf(delivery, TIMED_OUT)
          const beganMs = runningMs()
          const ended = writing?.()
          const terms = { trustedUntilMs: untilMs, deadline, replayOf: broken?.sent }
          const sent = await writeWithin(delivery, attempt, terms).finally(ended)
          durationMs += runningMs() - beganMs
          if (sent.kind === 'broken') {
            broken = { sent, posted: postedOf(delivery, sent.outcome) }
            continue
          }
          if (sent.kind !== 'lease-expired') return postedOf(delivery, sent)
        } else if (late >= MAX_LATE || deadline.hasPassed) {
          if (broken !== undefined) return broken.posted
          throw new Unavailable(
            'redis',
            'reading the subscription takes longer than its lease: Redis or this process is slow',
          )
        } else if (late > 0) await wait(LATE_WAIT_MS)
        read = await renew(due)
        late += 1
      }
    } finally {
      deadline.stop()
    }
  }
}
