/**
 * Preloaded with `--import` into one process of the stack: its `Date` is off by `CHAOS_CLOCK_SHIFT_MS`, as on a machine whose clock is
 * wrong. The monotonic clock (`performance.now`) is not changed, as it is not on such a machine.
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
