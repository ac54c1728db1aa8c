import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { startPoll } from './poll.ts'

/** `unfit`: signatures, tokens and event times from this clock would be rejected or misread. */
export type ClockState = 'fits' | 'skewed' | 'unfit'

/** Synchronised clocks agree to within tens of milliseconds; a second means that synchronisation has failed. */
export const SKEWED_MS = 1_000
/**
 * Receivers reject a `webhook-timestamp` that is 5 minutes off, and their own clocks are off as well. Tokens are checked to
 * the second. One minute leaves time to act before receivers reject deliveries.
 */
export const UNFIT_MS = 60_000

/** An event's time may differ from Redis's clock by this, in ms. */
export const MAX_EVENT_SKEW_MS = 5_000

type ClockSkew = ReturnType<typeof skewOf>

/** Assumes that Redis read its clock in the middle of the round trip. */
export const skewOf = (reading: {
  /** This process's clock when the answer arrived, ms since 1970. */
  readonly localMs: number
  /** Redis's clock between question and answer, ms since 1970. */
  readonly serverMs: number
  /** From the question to its answer. */
  readonly roundTripMs: number
}) => ({
  /** Positive: this process's clock is ahead of Redis's. */
  skewMs: reading.localMs - reading.roundTripMs / 2 - reading.serverMs,
  /** The true skew is within `skewMs` ± this, because Redis read its clock at an unknown moment of the round trip. */
  toleranceMs: reading.roundTripMs / 2,
})

/** Uses only the certain part of the skew: its distance from 0 minus the tolerance. */
export function classifySkew({ skewMs, toleranceMs }: ClockSkew): ClockState {
  const certainMs = Math.abs(skewMs) - toleranceMs
  if (certainMs > UNFIT_MS) return 'unfit'
  return certainMs > SKEWED_MS ? 'skewed' : 'fits'
}

export type ClockWatch = Awaited<ReturnType<typeof startClockWatch>>

/** A clock drifts by milliseconds in this time; a clock that is set wrong is found within it. */
const EVERY_MS = 30_000

/**
 * Compares this process's clock with Redis's, immediately and then every `everyMs`. Logs each change of the state and exposes
 * the skew as a metric. A failed comparison keeps the state; the readiness check of Redis reports that failure. A
 * comparison cannot show which of the two clocks is wrong.
 */
export async function startClockWatch(deps: {
  /** Redis's clock, ms since 1970. */
  readonly readServerMs: () => Promise<number>
  /** This process's clock, ms since 1970. */
  readonly now: () => number
  readonly everyMs?: number
  readonly metrics: Pick<Metrics, 'gauge'>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}) {
  const { readServerMs, now, everyMs = EVERY_MS, metrics, log } = deps
  let state: ClockState = 'fits'
  let skew: ClockSkew | undefined
  /** The latest that Redis's clock can show, minus the monotonic clock. Holds also after this process's clock was set. */
  let latestServerMs = Number.POSITIVE_INFINITY
  /** The earliest. Undefined before the first comparison. */
  let earliestServerMs: number | undefined
  metrics.gauge('switchhook_clock_skew_seconds', "How far this process's clock is ahead of Redis's.", () =>
    skew === undefined ? undefined : skew.skewMs / 1_000,
  )

  async function compare(): Promise<void> {
    const askedAt = { wallMs: now(), monotonicMs: performance.now() }
    try {
      const serverMs = await readServerMs()
      const localMs = now()
      // The monotonic clock stops while the machine is suspended, and the wall clock may be set back: use the larger.
      const roundTripMs = Math.max(localMs - askedAt.wallMs, performance.now() - askedAt.monotonicMs)
      skew = skewOf({ localMs, serverMs, roundTripMs })
      const answeredAtMs = performance.now()
      latestServerMs = serverMs + roundTripMs - answeredAtMs
      earliestServerMs = serverMs - answeredAtMs
    } catch {
      skew = undefined
      return
    }
    const next = classifySkew(skew)
    if (next !== state) report(next, skew)
    state = next
  }

  function report(next: ClockState, { skewMs, toleranceMs }: ClockSkew): void {
    const fields = { skewSeconds: skewMs / 1_000, toleranceSeconds: toleranceMs / 1_000 }
    if (next === 'fits') log.info("this process's clock agrees with Redis's again", fields)
    else if (next === 'skewed') log.warn("this process's clock differs from Redis's", fields)
    else log.error("this process's clock differs from Redis's by more than a minute", fields)
  }

  await compare()
  const poll = startPoll(everyMs, compare)
  return {
    /** For `/readyz`: false after a comparison that found the clock unfit. True before the first comparison. */
    isFit: (): boolean => state !== 'unfit',
    /**
     * The time for events, ms since 1970: by this process's clock, but at most `MAX_EVENT_SKEW_MS` from Redis's. An event of a
     * clock that is far ahead would move all later events of its leg or agent into the future. An event of a clock that is far
     * behind would expire before it is sent.
     */
    now: (): number => {
      const sinceMs = performance.now()
      const latestMs = Math.floor(latestServerMs + sinceMs) + MAX_EVENT_SKEW_MS
      const earliestMs = earliestServerMs === undefined ? 0 : Math.floor(earliestServerMs + sinceMs) - MAX_EVENT_SKEW_MS
      return Math.max(Math.min(now(), latestMs), earliestMs)
    },
    /**
     * Redis's clock, ms since 1970, late by a round trip at most and never early: for decisions that all processes must make
     * alike, and that cannot be undone. Before the first comparison it is this process's clock.
     */
    serverNow: (): number =>
      earliestServerMs === undefined ? now() : Math.floor(earliestServerMs + performance.now()),
    stop: poll.stop,
  }
}
