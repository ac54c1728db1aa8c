import {
  type Delivery,
  isTransientStatus,
  type Outcome,
  type ParkedCause,
  type ParkedReason,
  type RetrySchedule,
} from '@switchhook/contracts'

/**
 * Why a due delivery was not POSTed.
 * - `withdrawn`: before the first attempt, the subscription was deleted or disabled, or its event types or filter no longer match.
 * - `expired`: the event is older than the subscription allows (`isExpired`).
 * - `held`: the subscription is paused, clients receive its deliveries, or its limits allow no POST now.
 * - `cooling`: the endpoint is in its cool-down.
 * - `unsignable`: the worker cannot decrypt the subscription's secret or headers. Nothing is sent unsigned.
 */
export type Withheld =
  /** `wasParked`: this is a redelivery, or a client has had the delivery, so it is parked instead of being lost. */
  | { readonly kind: 'withdrawn'; readonly wasParked?: boolean }
  | { readonly kind: 'expired' }
  /** `visitInMs`: when a worker visits the subscription, to see whether its deliveries are still held. */
  | { readonly kind: 'held'; readonly visitInMs: number }
  /** `isProbing`: the cool-down is over, and another worker makes the probe. */
  | { readonly kind: 'cooling'; readonly isProbing?: boolean }
  /** `isFinal`: nobody can replace the secret or the headers, because the subscription was deleted or has left the url. */
  | { readonly kind: 'unsignable'; readonly isFinal?: boolean }

type NextSlot = Pick<Delivery, 'slot' | 'postponed'> & { readonly waitMs: number }

/** What happens to a delivery after its slot. */
export type Decision =
  | { readonly kind: 'acknowledged' | 'withdrawn' | 'expired' }
  | { readonly kind: 'retry'; readonly slot: number; readonly postponed?: never; readonly waitMs: number }
  | { readonly kind: 'park'; readonly reason: ParkedReason; readonly cause?: ParkedCause }
  /** It is held in `slot`, due after `waitMs`. */
  | (NextSlot & { readonly kind: 'hold'; readonly visitInMs: number })
  /**
   * The slot comes back: the last one after a cool-down, any while another worker makes the probe. Until the secret can be
   * decrypted, further slots follow the last.
   */
  | (NextSlot & { readonly kind: 'postpone' })

/**
 * The retry policy (specification, "Delivery"). Slot 0 is due immediately and slot k after the kth wait, so the number of
 * waits is the retry budget. A pure function: no clock, no randomness, no I/O.
 */
export function decide(
  outcome: Outcome | Withheld,
  { slot, postponed = 0 }: Pick<Delivery, 'slot' | 'postponed'>,
  schedule: RetrySchedule,
): Decision {
  const { waitsMs } = schedule
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'acknowledged' }
    case 'withdrawn':
      // `exhausted` is the only reason to park a delivery without an attempt.
      return outcome.wasParked === true ? { ...EXHAUSTED, cause: 'withdrawn' } : { kind: 'withdrawn' }
    case 'expired':
      return { kind: 'expired' }
    case 'answered':
      return isTransientStatus(outcome.status) ? nextSlot(slot, waitsMs) : { kind: 'park', reason: 'rejected' }
    case 'unreachable':
      // The client that had received it may have died, which says nothing about the next one.
      return outcome.reason === 'lapsed' ? hold(slot, postponed, 0, RECEIVED_VISIT_MS) : nextSlot(slot, waitsMs)
    case 'held':
      return hold(slot, postponed, 0, outcome.visitInMs)
    case 'cooling':
      return coolDown(slot, postponed, outcome.isProbing === true, schedule)
    case 'unsignable': {
      if (slot < waitsMs.length || outcome.isFinal === true) return nextSlot(slot, waitsMs)
      // A slot beyond the schedule, not a further postponement: only cool-downs count towards the limit.
      const waits = postponementsMs(schedule)
      const waitMs = waits[slot - waitsMs.length] ?? Math.max(...waits, ...waitsMs)
      return { kind: 'postpone', slot: slot + 1, waitMs }
    }
  }
}

/** How often a worker visits the held deliveries that clients receive, in case that their subscription was deleted. */
export const RECEIVED_VISIT_MS = 600_000

/** The decision about a delivery that a client has received: its retry waits until it can be received again. */
export const decisionOnReceived = (decision: Decision): Decision =>
  decision.kind === 'retry' ? hold(decision.slot, 0, decision.waitMs, RECEIVED_VISIT_MS) : decision

/**
 * The decision within the limit of the tenant's waiting deliveries. Beyond it, nothing waits, not even for the end of a cool-down
 * or of another worker's probe: a parked delivery can be sent again, and the breaker needs no waiting one.
 * @param mayWait false: as many wait as may
 */
export const withinWaitingLimit = (decision: Decision, mayWait: (waitMs: number) => boolean): Decision =>
  (decision.kind === 'retry' || decision.kind === 'postpone') && !mayWait(decision.waitMs)
    ? { ...EXHAUSTED, cause: 'waiting-limit' }
    : decision

function hold(slot: number, postponed: number, waitMs: number, visitInMs: number): Decision {
  return { kind: 'hold', slot, ...(postponed > 0 && { postponed }), waitMs, visitInMs }
}

/** A failure that counts against the endpoint. A rejection does not: an endpoint that rejects deliveries works. */
export const isTransientFailure = (outcome: Outcome): boolean =>
  outcome.kind === 'unreachable' || (outcome.kind === 'answered' && isTransientStatus(outcome.status))

const EXHAUSTED = { kind: 'park', reason: 'exhausted' } as const

function nextSlot(slot: number, waitsMs: readonly number[]): Decision {
  const waitMs = waitsMs[slot]
  // Undefined for the last slot, and for a slot beyond the end of a schedule that was shortened meanwhile.
  return waitMs === undefined ? EXHAUSTED : { kind: 'retry', slot: slot + 1, waitMs }
}

/**
 * A cool-down uses up a slot, but not the last one: that is postponed, until its waits are used up (ADR 0066). While
 * another worker makes the probe, every slot is postponed, without a limit (ADR 0012). The waits become longer, so that
 * few messages circle while no probe can be sent.
 */
function coolDown(slot: number, postponed: number, isProbing: boolean, schedule: RetrySchedule): Decision {
  const isLast = slot >= schedule.waitsMs.length
  if (!isLast && !isProbing) return nextSlot(slot, schedule.waitsMs)
  const postponements = postponementsMs(schedule)
  const waitMs = postponements[postponed]
  if (waitMs === undefined && !isProbing) return EXHAUSTED
  const beyondMs = isLast ? schedule.cooldownMs : Math.max(...postponements)
  return { kind: 'postpone', slot, postponed: postponed + 1, waitMs: waitMs ?? beyondMs }
}

/** Every wait that `decide` chooses for a retry or a postponement. Each has a queue. */
export const waitsOf = ({ waitsMs, cooldownMs }: RetrySchedule): readonly number[] => [...waitsMs, cooldownMs]

/** The waits of a last slot (ADR 0066): longer and longer, so that many deliveries for a dead endpoint cost few messages. */
export function postponementsMs({ waitsMs, cooldownMs }: RetrySchedule): readonly number[] {
  const longestMs = Math.max(0, ...waitsMs)
  const postponements = [cooldownMs]
  let sumMs = cooldownMs
  for (const waitMs of waitsMs.filter((each) => each > cooldownMs).toSorted((a, b) => a - b)) {
    if (sumMs >= longestMs) break
    postponements.push(waitMs)
    sumMs += waitMs
  }
  return postponements
}
