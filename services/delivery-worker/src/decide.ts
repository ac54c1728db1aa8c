import type { Outcome, ParkedReason } from '@switchhook/contracts'

/**
 * Why no POST was made though the delivery fell due. `withdrawn`: its subscription was deleted or disabled before the
 * first attempt. The endpoint's cool-down and its in-flight cap join here as further kinds.
 */
export type Withheld = { readonly kind: 'withdrawn' }

/** What becomes of a delivery after its turn. */
export type Decision =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'retry'; readonly slot: number; readonly waitMs: number }
  | { readonly kind: 'park'; readonly reason: ParkedReason }

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
  }
}

function nextSlot(slot: number, waitsMs: readonly number[]): Decision {
  const waitMs = waitsMs[slot]
  // A schedule that was shortened meanwhile ends here too: such a slot has no wait any more.
  return waitMs === undefined ? { kind: 'park', reason: 'exhausted' } : { kind: 'retry', slot: slot + 1, waitMs }
}

/** Specification, "Receiver obligations and semantics", 2 and 3. */
const isTransient = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429
