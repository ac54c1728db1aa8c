import type { Attempt, Delivery } from '../api/model.ts'

/** One position of the schedule in the current run of a delivery. */
export interface Slot {
  readonly slot: number
  /**
   * `failed`, `acknowledged`: an attempt was made. `skipped`: a cool-down used the slot up. `next`: the coming attempt.
   * `later`: only if those before it fail. `unused`: the delivery ended before it.
   */
  readonly kind: 'failed' | 'acknowledged' | 'skipped' | 'next' | 'later' | 'unused'
  /** ISO 8601: of the attempt, or planned. Null for a slot that was not or will not be used. */
  readonly at: string | null
  readonly attempt: Attempt | null
}

type Scheduled = Pick<Delivery, 'run' | 'attempts' | 'nextAttemptAt' | 'firstDueAt'>

/** All slots of the current run. Those that a cool-down used up follow from the waits between slots, `waitsMs`. */
export function slotsOf(delivery: Scheduled, waitsMs: readonly number[]): readonly Slot[] {
  // A slot beyond the schedule follows a wait for a secret, or a schedule that became shorter: shown as the last one.
  const attempts = new Map(
    delivery.attempts
      .filter(({ run }) => run === delivery.run)
      .map((attempt) => [Math.min(attempt.slot, waitsMs.length), attempt]),
  )
  const last = Math.max(-1, ...attempts.keys())
  const next = nextSlotOf(delivery, last, attempts.get(last), waitsMs)
  return Array.from({ length: waitsMs.length + 1 }, (_, slot): Slot => {
    const attempt = attempts.get(slot)
    if (attempt !== undefined)
      return { slot, kind: attempt.outcome === 'delivered' ? 'acknowledged' : 'failed', at: attempt.at, attempt }
    if (next !== undefined && slot >= next.slot)
      return { slot, kind: slot === next.slot ? 'next' : 'later', at: plannedAt(next, slot, waitsMs), attempt: null }
    const isPassed = next !== undefined || slot < last
    return { slot, kind: isPassed ? 'skipped' : 'unused', at: null, attempt: null }
  })
}

interface NextSlot {
  readonly slot: number
  readonly atMs: number
}

function nextSlotOf(
  { nextAttemptAt, firstDueAt }: Scheduled,
  last: number,
  lastAttempt: Attempt | undefined,
  waitsMs: readonly number[],
): NextSlot | undefined {
  if (nextAttemptAt === null) return undefined
  const atMs = Date.parse(nextAttemptAt)
  // Each later slot has an expected time; the next slot is the one whose time fits best.
  let expectedMs = Date.parse(lastAttempt?.at ?? firstDueAt)
  let best = { slot: Math.min(last + 1, waitsMs.length), differenceMs: Number.POSITIVE_INFINITY }
  for (let slot = last + 1; slot <= waitsMs.length; slot++) {
    if (slot > 0) expectedMs += waitsMs[slot - 1] ?? 0
    const differenceMs = Math.abs(expectedMs - atMs)
    if (differenceMs < best.differenceMs) best = { slot, differenceMs }
  }
  return { slot: best.slot, atMs }
}

function plannedAt(next: NextSlot, slot: number, waitsMs: readonly number[]): string {
  const waitedMs = waitsMs.slice(next.slot, slot).reduce((sum, ms) => sum + ms, 0)
  return new Date(next.atMs + waitedMs).toISOString()
}
