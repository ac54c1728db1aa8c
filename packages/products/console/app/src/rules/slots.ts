import type { Attempt, Delivery } from '../api/model.ts'

/** One position of the schedule in the current run of a delivery. */
export interface Slot {
  readonly slot: number
  /** `skipped`: a cool-down used it up. `later`: only if those before it fail. `unused`: the delivery ended before it. */
  readonly kind: 'failed' | 'acknowledged' | 'skipped' | 'next' | 'later' | 'unused'
  /** ISO 8601: of the attempt, or planned. Null for a slot that was not or will not be used. */
  readonly at: string | null
  readonly attempt: Attempt | null
}

type Scheduled = Pick<Delivery, 'run' | 'attempts' | 'nextAttemptAt' | 'firstDueAt'>

/** All slots of the current run. Those that a cool-down used up follow from the waits between slots, `waitsMs`. */
export function slotsOf(delivery: Scheduled, waitsMs: readonly number[]): readonly Slot[] {
  const { nextAttemptAt, firstDueAt } = delivery
  // A slot beyond the schedule follows a wait for a secret, or a schedule that became shorter: shown as the last one.
  const attempts = new Map(
    delivery.attempts
      .filter(({ run }) => run === delivery.run)
      .map((attempt) => [Math.min(attempt.slot, waitsMs.length), attempt]),
  )
  const last = Math.max(-1, ...attempts.keys())
  const nextMs = nextAttemptAt === null ? null : Date.parse(nextAttemptAt)
  const next = nextSlot(last, Date.parse(attempts.get(last)?.at ?? firstDueAt), nextMs ?? 0, waitsMs)
  return Array.from({ length: waitsMs.length + 1 }, (_, slot): Slot => {
    const attempt = attempts.get(slot)
    if (attempt !== undefined)
      return { slot, kind: attempt.outcome === 'delivered' ? 'acknowledged' : 'failed', at: attempt.at, attempt }
    if (nextMs !== null && slot >= next) {
      const plannedMs = waitsMs.slice(next, slot).reduce((sum, ms) => sum + ms, nextMs)
      return { slot, kind: slot === next ? 'next' : 'later', at: new Date(plannedMs).toISOString(), attempt: null }
    }
    return { slot, kind: nextMs !== null || slot < last ? 'skipped' : 'unused', at: null, attempt: null }
  })
}

/** Each slot after the last one has an expected time; the next slot is the one whose time fits best. */
function nextSlot(last: number, lastMs: number, nextMs: number, waitsMs: readonly number[]): number {
  let expectedMs = lastMs
  let best = { slot: Math.min(last + 1, waitsMs.length), differenceMs: Number.POSITIVE_INFINITY }
  for (let slot = last + 1; slot <= waitsMs.length; slot++) {
    if (slot > 0) expectedMs += waitsMs[slot - 1] ?? 0
    const differenceMs = Math.abs(expectedMs - nextMs)
    if (differenceMs < best.differenceMs) best = { slot, differenceMs }
  }
  return best.slot
}
