/** A token is renewed this long before its end, or after half of a short life. */
const AHEAD_MS = 60_000

export interface Life {
  /** ms since 1970. */
  readonly expiresAtMs: number
  readonly renewAtMs: number
}

export const lifeOf = (seconds: number, nowMs = Date.now()): Life => {
  const expiresAtMs = nowMs + seconds * 1_000
  return { expiresAtMs, renewAtMs: expiresAtMs - Math.min(AHEAD_MS, (seconds * 1_000) / 2) }
}

/** A token that cannot be renewed serves to its end. */
export const isFresh = ({ expiresAtMs, renewAtMs }: Life, canRenew: boolean): boolean =>
  Date.now() < (canRenew ? renewAtMs : expiresAtMs)
