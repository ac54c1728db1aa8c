import { uptime } from 'node:os'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { startPoll } from './poll.ts'

/** `unfit`: signatures, tokens and event times from this clock would be rejected or misread. */
export type ClockState = 'fits' | 'skewed' | 'unfit'

/**
 * Synchronised clocks agree to within tens of milliseconds; a second means that synchronisation has failed. It also tells a
 * jump of this process's clock from the delays of a busy machine.
 */
export const SKEWED_MS = 1_000
/**
 * Receivers reject a `webhook-timestamp` that is 5 minutes off, and their own clocks are off as well. Tokens are checked to
 * the second. One minute leaves time to act before receivers reject deliveries.
 */
export const UNFIT_MS = 60_000

/** An event's time may differ from Redis's clock by this, in ms. */
export const MAX_EVENT_SKEW_MS = 5_000

type ClockSkew = ReturnType<typeof skewOf>

/** `localMs`: by this process's clock, when the answer arrived. `serverMs`: by Redis's clock, ms since 1970. */
type Reading = Readonly<Record<'localMs' | 'serverMs' | 'roundTripMs', number>>

/** The true skew is within `skewMs` ± `toleranceMs`: Redis read its clock at an unknown moment of the round trip. */
export const skewOf = ({ localMs, serverMs, roundTripMs }: Reading) => ({
  /** Positive: this process's clock is ahead of Redis's. */
  skewMs: localMs - roundTripMs / 2 - serverMs,
  toleranceMs: roundTripMs / 2,
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
 * Compares this process's clock with Redis's, immediately and then every `everyMs`. A failed comparison keeps the
 * state: the readiness check of Redis reports it. A comparison cannot show which of the two clocks is wrong.
 *
 * Between comparisons the monotonic clock moves Redis's time on. It stops while the machine is suspended, so each use checks
 * whether this process's clock has jumped against it since. A jump has two possible causes. After a suspension, the uptime has
 * jumped as well and is used instead. If the clock was set, the monotonic clock is still right. A hypervisor that pauses the
 * machine looks like a clock that was set. So every jump starts a comparison at once, and the clock is unfit until it succeeds.
 */
export async function startClockWatch(deps: {
  /** Redis's clock, ms since 1970. */
  readonly readServerMs: () => Promise<number>
  /** This process's clock, ms since 1970. */
  readonly now: () => number
  /** Of the machine, in ms: goes on while the machine is suspended, and is not set. */
  readonly uptimeMs?: () => number
  readonly everyMs?: number
  readonly metrics: Pick<Metrics, 'gauge'>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}) {
  const { readServerMs, now, uptimeMs = () => uptime() * 1_000, everyMs = EVERY_MS, metrics, log } = deps
  const readClocks = () => ({ wallMs: now(), monotonicMs: performance.now(), uptimeMs: uptimeMs() })
  let state: ClockState = 'fits'
  let skew: ClockSkew | undefined
  /** What Redis's clock can show at most, and at least, minus the monotonic clock, by the last comparison. */
  let last: { latestServerMs: number; earliestServerMs: number; askedAt: ReturnType<typeof readClocks> } | undefined
  let comparing: Promise<void> | undefined
  metrics.gauge('switchhook_clock_skew_seconds', "How far this process's clock is ahead of Redis's.", () =>
    skew === undefined ? undefined : skew.skewMs / 1_000,
  )

  /** Whether this process's clock and the monotonic clock have run apart since. */
  const hasJumpedSince = ({ wallMs, monotonicMs }: ReturnType<typeof readClocks>): boolean =>
    Math.abs(now() - wallMs - (performance.now() - monotonicMs)) > SKEWED_MS

  async function compareNow(): Promise<void> {
    const askedAt = readClocks()
    try {
      const serverMs = await readServerMs()
      // It is unknown whether Redis answered before the jump.
      if (hasJumpedSince(askedAt)) return await compareNow()
      const localMs = now()
      // They may differ by up to `SKEWED_MS`: use the larger.
      const roundTripMs = Math.max(localMs - askedAt.wallMs, performance.now() - askedAt.monotonicMs)
      skew = skewOf({ localMs, serverMs, roundTripMs })
      const earliestServerMs = serverMs - performance.now()
      last = { earliestServerMs, latestServerMs: earliestServerMs + roundTripMs, askedAt }
    } catch {
      skew = undefined
      return
    }
    const next = classifySkew(skew)
    if (next !== state) report(next, skew)
    state = next
  }

  const compare = (): Promise<void> => (comparing ??= compareNow().finally(() => (comparing = undefined)))

  function report(next: ClockState, { skewMs, toleranceMs }: ClockSkew): void {
    const fields = { skewSeconds: skewMs / 1_000, toleranceSeconds: toleranceMs / 1_000 }
    if (next === 'fits') log.info("this process's clock agrees with Redis's again", fields)
    else if (next === 'skewed') log.warn("this process's clock differs from Redis's", fields)
    else log.error("this process's clock differs from Redis's by more than a minute", fields)
  }

  /** Whether the last comparison no longer holds. Then starts another one. */
  function hasJumped(): boolean {
    if (last === undefined || !hasJumpedSince(last.askedAt)) return false
    void compare()
    return true
  }

  /** The monotonic clock, moved on by the time that the machine was suspended since the last comparison. */
  function elapsingMs(): number {
    const nowMs = performance.now()
    if (last === undefined || !hasJumped()) return nowMs
    const { askedAt } = last
    const suspendedMs = uptimeMs() - askedAt.uptimeMs - (nowMs - askedAt.monotonicMs)
    return suspendedMs > SKEWED_MS ? nowMs + suspendedMs : nowMs
  }

  await compare()
  const poll = startPoll(everyMs, compare)
  return {
    /**
     * For `/readyz`: false after a comparison that found the clock unfit, and from a jump of the clock until the next comparison.
     * True before the first comparison.
     */
    isFit: (): boolean => !hasJumped() && state !== 'unfit',
    /**
     * The time for events, ms since 1970: by this process's clock, but at most `MAX_EVENT_SKEW_MS` from Redis's. An event of a
     * clock that is far ahead would move all later events of its leg or agent into the future. An event of a clock that is far
     * behind would expire before it is sent.
     */
    now: (): number => {
      const sinceMs = elapsingMs()
      if (last === undefined) return now()
      const latestMs = Math.floor(last.latestServerMs + sinceMs) + MAX_EVENT_SKEW_MS
      const earliestMs = Math.floor(last.earliestServerMs + sinceMs) - MAX_EVENT_SKEW_MS
      return Math.max(Math.min(now(), latestMs), earliestMs)
    },
    /**
     * Redis's clock, ms since 1970, late by a round trip and an unnoticed suspension of a second at most, and never early: for
     * decisions that all processes must make alike, and that cannot be undone. Before the first comparison it is this
     * process's clock.
     */
    serverNow: (): number => (last === undefined ? now() : Math.floor(last.earliestServerMs + elapsingMs())),
    stop: poll.stop,
  }
}
