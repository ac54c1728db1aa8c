import { setTimeout as delay } from 'node:timers/promises'
import { type ClockSkew, type ClockVerdict, judgeSkew, skewOf } from './clock-skew.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'

export interface ClockWatch {
  /** For `/readyz`: false while the last comparison found the clock unfit. True as long as there was none. */
  isFit(): boolean
  stop(): Promise<void>
}

export interface ClockWatchDeps {
  /** Redis's clock, ms since 1970. */
  readonly readServerMs: () => Promise<number>
  /** This process's clock, ms since 1970. */
  readonly now: () => number
  readonly everyMs?: number
  readonly metrics: Pick<Metrics, 'gauge'>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
}

/** Clocks drift by milliseconds in so long; a clock that is set wrong is found within it. */
const EVERY_MS = 30_000

/**
 * Compares this process's clock with Redis's, at once and then from time to time. It logs each change of the verdict and
 * shows the skew as a metric. A comparison that fails changes nothing: the check for Redis reports that. Which of the two
 * clocks is wrong cannot be told from here.
 */
export async function startClockWatch(deps: ClockWatchDeps): Promise<ClockWatch> {
  const { readServerMs, now, everyMs = EVERY_MS, metrics, log } = deps
  const stopping = new AbortController()
  let verdict: ClockVerdict = 'fits'
  let skew: ClockSkew | undefined
  metrics.gauge('switchhook_clock_skew_seconds', "How far this process's clock is ahead of Redis's.", () =>
    skew === undefined ? undefined : skew.skewMs / 1_000,
  )

  async function compare(): Promise<void> {
    const askedAt = { wallMs: now(), steadyMs: performance.now() }
    try {
      const serverMs = await readServerMs()
      const localMs = now()
      // The steady clock stands still in a suspended machine, and the wall clock may be set back meanwhile.
      const roundTripMs = Math.max(localMs - askedAt.wallMs, performance.now() - askedAt.steadyMs)
      skew = skewOf({ localMs, serverMs, roundTripMs })
    } catch {
      skew = undefined
      return
    }
    const next = judgeSkew(skew)
    if (next !== verdict) report(next, skew)
    verdict = next
  }

  function report(next: ClockVerdict, { skewMs, toleranceMs }: ClockSkew): void {
    const fields = { skewSeconds: skewMs / 1_000, toleranceSeconds: toleranceMs / 1_000 }
    if (next === 'fits') log.info("this process's clock agrees with Redis's again", fields)
    else if (next === 'skewed') log.warn("this process's clock differs from Redis's", fields)
    else log.error("this process's clock differs from Redis's by more than a minute", fields)
  }

  async function compareUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (!stopping.signal.aborted) await compare()
    }
  }

  await compare()
  const running = compareUntilStopped()
  return {
    isFit: () => verdict !== 'unfit',
    stop: () => {
      stopping.abort()
      return running
    },
  }
}
