import { isTransientStatus, type Outcome, type ParkedReason } from '@switchhook/contracts'

/**
 * Why a due delivery was not POSTed.
 * - `withdrawn`: before the first attempt, the subscription was deleted, disabled or changed to other event types.
 * - `cooling`: the endpoint is in its cool-down.
 * - `unsignable`: the worker cannot decrypt the subscription's secret. Nothing is sent unsigned.
 */
export type Withheld =
  /** `wasParked`: this is a redelivery of a parked delivery, so it is parked again instead of being lost. */
  | { readonly kind: 'withdrawn'; readonly wasParked?: boolean }
  /** `isFinal`: a last slot has been postponed long enough (`isPostponedLongEnough`). */
  | { readonly kind: 'cooling'; readonly isFinal?: boolean }
  /** `isFinal`: the subscription was deleted, so no rotation can replace the secret. */
  | { readonly kind: 'unsignable'; readonly isFinal?: boolean }

/** The fate of a delivery after its slot. */
export type Decision =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'retry'; readonly slot: number; readonly waitMs: number }
  | { readonly kind: 'park'; readonly reason: ParkedReason }
  /** The last slot comes back unchanged: after a cool-down, or until the secret can be decrypted. */
  | { readonly kind: 'postpone' }

/**
 * The retry policy (specification, "Delivery"). Slot 0 is due at once and slot k after the kth wait, so the number of waits
 * is the retry budget. A pure function: no clock, no randomness, no I/O.
 */
export function decide(outcome: Outcome | Withheld, slot: number, waitsMs: readonly number[]): Decision {
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'acknowledged' }
    case 'withdrawn':
      // `exhausted` is the only reason to park a delivery without an attempt.
      return outcome.wasParked === true ? { kind: 'park', reason: 'exhausted' } : { kind: 'withdrawn' }
    case 'answered':
      return isTransientStatus(outcome.status) ? nextSlot(slot, waitsMs) : { kind: 'park', reason: 'rejected' }
    case 'unreachable':
      return nextSlot(slot, waitsMs)
    case 'cooling':
    case 'unsignable':
      return outcome.isFinal === true ? nextSlot(slot, waitsMs) : nextSlotOrPostpone(slot, waitsMs)
  }
}

/** A failure that counts against the endpoint. A rejection does not: an endpoint that rejects deliveries works. */
export const isTransientFailure = (outcome: Outcome): boolean =>
  outcome.kind === 'unreachable' || (outcome.kind === 'answered' && isTransientStatus(outcome.status))

/** An obstacle that may pass does not use up the last slot. */
const nextSlotOrPostpone = (slot: number, waitsMs: readonly number[]): Decision =>
  slot < waitsMs.length ? nextSlot(slot, waitsMs) : { kind: 'postpone' }

function nextSlot(slot: number, waitsMs: readonly number[]): Decision {
  const waitMs = waitsMs[slot]
  // Undefined for the last slot, and for a slot beyond the end of a schedule that was shortened meanwhile.
  return waitMs === undefined ? { kind: 'park', reason: 'exhausted' } : { kind: 'retry', slot: slot + 1, waitMs }
}
