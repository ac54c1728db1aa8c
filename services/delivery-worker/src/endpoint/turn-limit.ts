export interface TurnLimits {
  readonly least: number
  /** Turns of one subscription while its endpoint answers quickly. */
  readonly most: number
  /** Turns beyond `least`, of all subscriptions together. */
  readonly beyondLeast: number
}

/**
 * Answers within this time are quick. They are also the only evidence that an endpoint is quick, so it counts for as long: an
 * endpoint that stops answering has lost its further turns by the time that a slow answer would have arrived.
 */
export const QUICK_MS = 250

/** The turns that quick answers have earned. Undefined: none beyond `least`. */
export type EarnedTurns = { readonly turns: number; readonly quickAtMs: number } | undefined

/** The result of a POST, as far as it changes the number of turns. */
export interface PostResult {
  readonly durationMs: number
  /** The POST counts against the endpoint. A rejection does not. */
  readonly isFailure: boolean
}

export const turnsAt = (earned: EarnedTurns, nowMs: number, { least }: Pick<TurnLimits, 'least'>): number =>
  earned === undefined || nowMs - earned.quickAtMs >= QUICK_MS ? least : Math.max(least, earned.turns)

/**
 * One slow answer or failure takes back all further turns. A quick answer adds one, if all turns were taken; otherwise it
 * only confirms them.
 */
export function earnedAfter(
  earned: EarnedTurns,
  { durationMs, isFailure }: PostResult,
  { taken, nowMs, limits }: { readonly taken: number; readonly nowMs: number; readonly limits: TurnLimits },
): EarnedTurns {
  if (isFailure || durationMs >= QUICK_MS) return undefined
  const turns = turnsAt(earned, nowMs, limits)
  return { turns: taken < turns ? turns : Math.min(Math.max(limits.least, limits.most), turns + 1), quickAtMs: nowMs }
}

/**
 * The number of turns that a subscription may take now. Subscriptions that have taken `least` or more share the further
 * turns equally, so one cannot keep them from the others, and together they never exceed `beyondLeast`.
 * @param beyond of the subscriptions that have taken `least` or more: how many they are, and their further turns
 */
export function turnsWithin(
  turns: number,
  taken: number,
  beyond: () => { readonly full: number; readonly takenBeyond: number },
  { least, beyondLeast }: TurnLimits,
): number {
  if (taken < least) return least
  const { full, takenBeyond } = beyond()
  if (takenBeyond >= beyondLeast) return Math.min(turns, taken)
  return Math.min(turns, least + Math.floor(beyondLeast / Math.max(1, full)))
}
