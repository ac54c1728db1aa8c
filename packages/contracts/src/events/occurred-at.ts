/**
 * The `occurredAt` of an event that follows another one of the same leg or agent. The clocks of processes differ, so the
 * reported time can be earlier than that of the previous event, which another process recorded. The result is at least
 * 1 ms later, so that `occurredAt` and `sequence` always have the same order.
 * @param previous `occurredAt` of the previous event; null: none
 * @param at when the change happened, by the clock of the reporting process. `ClockWatch` bounds how far it can be ahead
 */
export function occurredAfter(previous: string | null, at: string): string {
  if (previous === null || Date.parse(at) > Date.parse(previous)) return at
  return new Date(Date.parse(previous) + 1).toISOString()
}
