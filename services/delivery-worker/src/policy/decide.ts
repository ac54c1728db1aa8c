import type { Outcome, ParkedReason } from '@switchhook/contracts'

/**
 * Why a due delivery was not POSTed. `withdrawn`: before the first attempt the subscription was deleted,
 * disabled or stopped asking for the event type.
 * `cooling`: the endpoint keeps failing and is not contacted during its cool-down. `unsignable`: the worker cannot open the
 * subscription's secret; nothing is sent unsigned.
 */
export type Withheld =
  /** `wasParked`: the delivery was parked and sent again, so it is parked again instead of being lost. */
  | { readonly kind: 'withdrawn'; readonly wasParked?: boolean }
  /** `isForGood`: a last slot has waited long enough (`isPostponedLongEnough`). */
  | { readonly kind: 'cooling'; readonly isForGood?: boolean }
  /** `isForGood`: the subscription was deleted, so no rotation can replace the secret. */
  | { readonly kind: 'unsignable'; readonly isForGood?: boolean }

/** What the worker does next with a delivery. */
export type Decision =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'retry'; readonly slot: number; readonly waitMs: number }
  | { readonly kind: 'park'; readonly reason: ParkedReason }
  /** The last slot waits for the end of the cool-down, or until the secret can be opened. */
  | { readonly kind: 'postpone' }

/**
 * The retry policy (specification, "Delivery"). Slot 0 is at once, slot k comes after the kth wait, so the
 * number of waits is the retry budget. No clock, no chance, no I/O.
 */
export function decide(outcome: Outcome | Withheld, slot: number, waitsMs: readonly number[]): Decision {
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'acknowledged' }
    case 'withdrawn':
      // Only the schedule can park a delivery without an attempt.
      return outcome.wasParked === true ? { kind: 'park', reason: 'exhausted' } : { kind: 'withdrawn' }
    case 'answered':
      return isTransient(outcome.status) ? nextSlot(slot, waitsMs) : { kind: 'park', reason: 'rejected' }
    case 'unreachable':
      return nextSlot(slot, waitsMs)
    case 'cooling':
    case 'unsignable':
      return outcome.isForGood === true ? nextSlot(slot, waitsMs) : nextSlotOrPostpone(slot, waitsMs)
  }
}

/** A failure that counts against the endpoint. One that rejects a delivery works. */
export const isTransientFailure = (outcome: Outcome): boolean =>
  outcome.kind === 'unreachable' || (outcome.kind === 'answered' && isTransient(outcome.status))

/** A passing obstacle does not use up the last slot. */
const nextSlotOrPostpone = (slot: number, waitsMs: readonly number[]): Decision =>
  slot < waitsMs.length ? nextSlot(slot, waitsMs) : { kind: 'postpone' }

function nextSlot(slot: number, waitsMs: readonly number[]): Decision {
  const waitMs = waitsMs[slot]
  // A schedule that was shortened meanwhile ends here too: such a slot has no wait any more.
  return waitMs === undefined ? { kind: 'park', reason: 'exhausted' } : { kind: 'retry', slot: slot + 1, waitMs }
}

/** Specification, "Receiver obligations and semantics", 2 and 3. */
const isTransient = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429
