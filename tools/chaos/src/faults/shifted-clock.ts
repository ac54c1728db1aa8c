/**
 * Preloaded with `--import` into one process of the stack: shifts its `Date` by `CHAOS_CLOCK_SHIFT_MS`, as if the clock of
 * its machine were wrong. A wrong clock does not affect the monotonic `performance.now`, so it stays unchanged.
 */
export const shiftMs = Number(process.env['CHAOS_CLOCK_SHIFT_MS'] ?? 0)
const TrueDate = Date

class ShiftedDate extends TrueDate {
  constructor(...parts: readonly [] | ConstructorParameters<DateConstructor>) {
    if (parts.length === 0) super(ShiftedDate.now())
    else super(...(parts as [number]))
  }

  static override now(): number {
    return TrueDate.now() + shiftMs
  }
}

globalThis.Date = ShiftedDate as DateConstructor
