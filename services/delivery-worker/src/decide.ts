import type { Outcome, ParkedReason } from '@switchhook/contracts'

/**
 * Why no POST was made though the delivery fell due. `withdrawn`: its subscription was deleted or disabled before the
 * first attempt. `cooling`: its endpoint keeps failing, and is not contacted for a while. `unsignable`: its secret cannot
 * be opened, which is trouble of our own: nobody is sent anything unsigned, and nobody else's deliveries wait for it.
 */
export type Withheld =
  | { readonly kind: 'withdrawn' | 'cooling' }
  /** `isForGood`: its subscription has gone, so no rotation gives it another secret. */
  | { readonly kind: 'unsignable'; readonly isForGood?: boolean }

/** What becomes of a delivery after its turn. */
export type Decision =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'retry'; readonly slot: number; readonly waitMs: number }
  | { readonly kind: 'park'; readonly reason: ParkedReason }
  /** The last slot is never given up without a POST: it waits the cool-down, or our own trouble, out. */
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
      return { kind: 'withdrawn' }
    case 'answered':
      return isTransient(outcome.status) ? nextSlot(slot, waitsMs) : { kind: 'park', reason: 'rejected' }
    case 'unreachable':
      return nextSlot(slot, waitsMs)
    case 'unsignable':
      return outcome.isForGood === true ? nextSlot(slot, waitsMs) : nextSlotWithPost(slot, waitsMs)
    case 'cooling':
      return nextSlotWithPost(slot, waitsMs)
  }
}

/** A failure that counts against the endpoint. One that rejects a delivery works. */
export const isTransientFailure = (outcome: Outcome): boolean =>
  outcome.kind === 'unreachable' || (outcome.kind === 'answered' && isTransient(outcome.status))

/**
 * How long a last slot waits for an endpoint in its cool-down: that once, and then longer and longer along the schedule,
 * so that many deliveries that wait for one dead endpoint do not keep the broker busy.
 */
export function postponeMs(postponed: number, waitsMs: readonly number[], cooldownMs: number): number {
  const longer = waitsMs.filter((waitMs) => waitMs > cooldownMs).toSorted((a, b) => a - b)
  return postponed === 0 ? cooldownMs : (longer[postponed - 1] ?? longer.at(-1) ?? cooldownMs)
}

/** The last slot is not used up by something that passes. */
const nextSlotWithPost = (slot: number, waitsMs: readonly number[]): Decision =>
  slot < waitsMs.length ? nextSlot(slot, waitsMs) : { kind: 'postpone' }

function nextSlot(slot: number, waitsMs: readonly number[]): Decision {
  const waitMs = waitsMs[slot]
  // A schedule that was shortened meanwhile ends here too: such a slot has no wait any more.
  return waitMs === undefined ? { kind: 'park', reason: 'exhausted' } : { kind: 'retry', slot: slot + 1, waitMs }
}

/** Specification, "Receiver obligations and semantics", 2 and 3. */
const isTransient = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429
