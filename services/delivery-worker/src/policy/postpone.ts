import type { Delivery, Postponement } from '@switchhook/contracts'

/**
 * How long a last slot waits for an endpoint in its cool-down: one cool-down first, and then the longer waits of the
 * schedule in turn, so that a large backlog for a dead endpoint costs the broker few messages.
 */
export function postponeMs(postponed: number, waitsMs: readonly number[], cooldownMs: number): number {
  const longer = waitsMs.filter((waitMs) => waitMs > cooldownMs).toSorted((a, b) => a - b)
  return postponed === 0 ? cooldownMs : (longer[postponed - 1] ?? longer.at(-1) ?? cooldownMs)
}

/** Adds a wait to a postponement, or begins one. `openUntilMs`: the end of the endpoint's present cool-down. */
export const postponedBy = (
  waitMs: number,
  { postponement }: Pick<Delivery, 'postponement'>,
  openUntilMs: number,
): Postponement => ({
  waitedMs: (postponement?.waitedMs ?? 0) + waitMs,
  openUntilMs: postponement?.openUntilMs ?? openUntilMs,
})

/**
 * Whether a last slot has waited long enough for its endpoint: at least as long as the longest wait of the schedule, and
 * the endpoint has failed again since. Without this limit the backlog of a dead endpoint grows for ever, because one probe
 * for each cool-down ends far fewer deliveries than arrive. A message that a worker of an earlier version postponed carries
 * no postponement; it is postponed once more.
 * @param openUntilMs the end of the endpoint's present cool-down
 */
export function isPostponedLongEnough(
  { postponement }: Pick<Delivery, 'postponement'>,
  openUntilMs: number,
  waitsMs: readonly number[],
): boolean {
  if (postponement === undefined) return false
  return postponement.waitedMs >= Math.max(0, ...waitsMs) && postponement.openUntilMs !== openUntilMs
}
