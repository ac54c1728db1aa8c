/** One comparison of this process's clock with Redis's. */
export interface ClockReading {
  /** This process's clock when the answer arrived, ms since 1970. */
  readonly localMs: number
  /** Redis's clock somewhere between question and answer, ms since 1970. */
  readonly serverMs: number
  /** From the question to its answer. */
  readonly roundTripMs: number
}

export interface ClockSkew {
  /** Positive: this process's clock is ahead of Redis's. */
  readonly skewMs: number
  /** The true skew lies within `skewMs` ± this: nobody knows when in the round trip Redis looked at its clock. */
  readonly toleranceMs: number
}

/** `unfit`: signatures, tokens and times of events made by this clock would be refused or misread. */
export type ClockVerdict = 'fits' | 'skewed' | 'unfit'

/** Synchronised clocks agree to within tens of milliseconds, so a second is already a sign that synchronisation failed. */
export const SKEWED_MS = 1_000
/**
 * Receivers refuse a `webhook-timestamp` that is 5 minutes off, and their own clocks are off as well. Tokens are checked to
 * the second. A minute leaves time to act before the first refusal of a receiver.
 */
export const UNFIT_MS = 60_000

/** Takes the middle of the round trip for the moment at which Redis looked at its clock. */
export const skewOf = ({ localMs, serverMs, roundTripMs }: ClockReading): ClockSkew => ({
  skewMs: localMs - roundTripMs / 2 - serverMs,
  toleranceMs: roundTripMs / 2,
})

/** Judges only the part of the skew that is certain. */
export function judgeSkew({ skewMs, toleranceMs }: ClockSkew): ClockVerdict {
  const certainMs = Math.abs(skewMs) - toleranceMs
  if (certainMs > UNFIT_MS) return 'unfit'
  return certainMs > SKEWED_MS ? 'skewed' : 'fits'
}
