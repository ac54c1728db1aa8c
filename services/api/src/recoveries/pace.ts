import type { EndpointHealth } from '@switchhook/store'

/** The rate at which a recovery sends. */
export interface Pace {
  readonly perSecond: number
  /** When this rate began, in ms since 1970. */
  readonly sinceMs: number
  /** A delivery sent at this rate was acknowledged. */
  readonly isProven: boolean
}

/** The result of one of the deliveries that were sent last. */
export type Sample =
  | { readonly kind: 'none' | 'acknowledged' | 'failed' }
  /** Its attempt has no result yet. */
  | { readonly kind: 'unanswered'; readonly sinceMs: number }

export interface Conditions {
  readonly isEnabled: boolean
  readonly health: EndpointHealth
  readonly sample: Sample
  readonly mostPerSecond: number
  /** Time since the recovery last made progress. */
  readonly stalledMs: number
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** Why a recovery sends nothing now. */
export const WAITING_FOR = ['endpoint-cooling-down', 'endpoint-answers', 'subscription-enabled', 'broker'] as const

export type WaitingFor = (typeof WAITING_FOR)[number]

/** How many deliveries a step sends, and when the next step begins. */
export interface StepPlan {
  readonly pace: Pace
  readonly take: number
  readonly waitMs: number
  readonly waitingFor: WaitingFor | null
}

export const SLOWEST_PER_SECOND = 1
/** A rate must go well for this long before it is doubled. */
export const RISE_MS = 3_000
/** Failures of deliveries that were sent at the previous rate can arrive for this long; they do not lower the new rate. */
export const FALL_MS = 1_000
/** An endpoint that takes longer than this to answer is busy, and gets nothing more. */
export const UNANSWERED_MS = 3_000
/** Longer than any attempt. A sample without a result by then is given up. */
export const SAMPLE_TIMEOUT_MS = 60_000
const STEPS_PER_SECOND = 5
/** A recovery that waits and has made no progress for this long is cancelled: its condition may never be met. */
export const MAX_STALLED_MS = 30 * 24 * 60 * 60_000
const CHECK_SUBSCRIPTION_MS = 2_000
/** A subscription can stay disabled for weeks. */
export const LONGEST_CHECK_MS = 60_000
const CHECK_ENDPOINT_MS = 1_000
const LONGEST_COOLDOWN_CHECK_MS = 5_000

export const firstPace = (nowMs: number): Pace => ({ perSecond: SLOWEST_PER_SECOND, sinceMs: nowMs, isProven: false })

/**
 * Plans a step. The rate begins at one delivery per second and doubles every few seconds while the endpoint acknowledges; a
 * failure halves it. A cool-down, a disabled subscription or missing answers pause the recovery, and it begins at the
 * slowest rate again. After a cool-down a single delivery is sent as the probe. A pure function.
 */
export function planStep(
  pace: Pace,
  { isEnabled, health, sample, mostPerSecond, stalledMs, nowMs }: Conditions,
): StepPlan {
  const pause = (waitingFor: WaitingFor, waitMs: number): StepPlan => ({
    pace: firstPace(nowMs),
    take: 0,
    waitMs,
    waitingFor,
  })
  const isUnanswered = (ms: number): boolean => sample.kind === 'unanswered' && nowMs - sample.sinceMs >= ms

  if (!isEnabled) {
    // Waiting as long again as it has waited so far makes the checks rarer.
    return pause('subscription-enabled', Math.min(Math.max(stalledMs, CHECK_SUBSCRIPTION_MS), LONGEST_CHECK_MS))
  }
  if (health.state === 'open') {
    const leftMs = (health.openUntilMs ?? nowMs) - nowMs
    return pause('endpoint-cooling-down', Math.min(Math.max(leftMs, CHECK_ENDPOINT_MS), LONGEST_COOLDOWN_CHECK_MS))
  }
  if (health.state === 'probing') {
    if (isUnanswered(0)) return pause('endpoint-cooling-down', CHECK_ENDPOINT_MS)
    return { pace: firstPace(nowMs), take: 1, waitMs: CHECK_ENDPOINT_MS, waitingFor: null }
  }
  if (isUnanswered(UNANSWERED_MS)) return pause('endpoint-answers', CHECK_ENDPOINT_MS)
  const next = nextPace(pace, sample.kind, health.consecutiveFailures, mostPerSecond, nowMs)
  const take = Math.max(1, Math.floor(next.perSecond / STEPS_PER_SECOND))
  return { pace: next, take, waitMs: (take * 1_000) / next.perSecond, waitingFor: null }
}

function nextPace(pace: Pace, sample: Sample['kind'], failures: number, mostPerSecond: number, nowMs: number): Pace {
  const isGoingWell = sample !== 'failed' && failures === 0
  const isProven = isGoingWell && (pace.isProven || sample === 'acknowledged')
  const elapsedMs = nowMs - pace.sinceMs
  if (!isGoingWell && elapsedMs >= FALL_MS) return changed(pace.perSecond / 2)
  // A lowered limit applies at once.
  if (pace.perSecond > mostPerSecond) return changed(mostPerSecond)
  if (isProven && elapsedMs >= RISE_MS && pace.perSecond < mostPerSecond) return changed(pace.perSecond * 2)
  return { ...pace, isProven }

  function changed(perSecond: number): Pace {
    return {
      perSecond: Math.min(Math.max(perSecond, SLOWEST_PER_SECOND), mostPerSecond),
      sinceMs: nowMs,
      isProven: false,
    }
  }
}
