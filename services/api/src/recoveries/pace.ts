import type { EndpointHealth } from '@switchhook/store'

/** How fast a recovery sends. */
export interface Pace {
  readonly perSecond: number
  /** Since when, ms since 1970. */
  readonly sinceMs: number
  /** Something that was sent at this pace was acknowledged. */
  readonly isProven: boolean
}

/** What became of one of the deliveries that were sent last. */
export type Sample =
  | { readonly kind: 'none' | 'acknowledged' | 'failed' }
  /** Nothing has come of it yet. */
  | { readonly kind: 'unanswered'; readonly sinceMs: number }

export interface Conditions {
  readonly isEnabled: boolean
  readonly health: EndpointHealth
  readonly sample: Sample
  readonly mostPerSecond: number
  /** For how long the recovery has not got on. */
  readonly stillMs: number
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** What a recovery waits for. */
export const WAITING_FOR = ['endpoint-cooling-down', 'endpoint-answers', 'subscription-enabled', 'broker'] as const

export type WaitingFor = (typeof WAITING_FOR)[number]

/** How many to send now, and after how long the next turn comes. */
export interface Turn {
  readonly pace: Pace
  readonly take: number
  readonly waitMs: number
  readonly waitingFor: WaitingFor | null
}

export const SLOWEST_PER_SECOND = 1
/** So long a pace must have gone well before it is doubled. */
export const RISE_MS = 3_000
/** Bad news of what was sent at the former pace may come for so long; it is not held against the new one. */
export const FALL_MS = 1_000
/** An endpoint that takes longer to answer has enough to do. */
export const UNANSWERED_MS = 3_000
/** Longer than an attempt may take. After that, an answer that does not come tells nothing any more. */
export const PATIENCE_MS = 60_000
const TURNS_PER_SECOND = 5
/** A recovery that is held and has not got on for so long will not get on any more: what it waits for may never come. */
export const MOST_STILL_MS = 30 * 24 * 60 * 60_000
const CHECK_SUBSCRIPTION_MS = 2_000
/** A subscription may stay disabled for weeks. */
export const LONGEST_CHECK_MS = 60_000
const CHECK_ENDPOINT_MS = 1_000
const LONGEST_COOLDOWN_CHECK_MS = 5_000

export const firstPace = (nowMs: number): Pace => ({ perSecond: SLOWEST_PER_SECOND, sinceMs: nowMs, isProven: false })

/**
 * The pace of a recovery. It begins with one delivery a second and doubles every few seconds while the endpoint
 * acknowledges; a failure halves it; a cool-down, a disabled subscription or answers that do not come hold it, and it begins
 * at the bottom again. After a cool-down one delivery goes first, as it is the probe. No clock, no chance, no I/O.
 */
export function takeTurn(pace: Pace, { isEnabled, health, sample, mostPerSecond, stillMs, nowMs }: Conditions): Turn {
  const hold = (waitingFor: WaitingFor, waitMs: number): Turn => ({
    pace: firstPace(nowMs),
    take: 0,
    waitMs,
    waitingFor,
  })
  const isUnanswered = (ms: number): boolean => sample.kind === 'unanswered' && nowMs - sample.sinceMs >= ms

  if (!isEnabled) {
    // As long again as it has been still, so that the looks become rarer.
    return hold('subscription-enabled', Math.min(Math.max(stillMs, CHECK_SUBSCRIPTION_MS), LONGEST_CHECK_MS))
  }
  if (health.state === 'open') {
    const leftMs = (health.openUntilMs ?? nowMs) - nowMs
    return hold('endpoint-cooling-down', Math.min(Math.max(leftMs, CHECK_ENDPOINT_MS), LONGEST_COOLDOWN_CHECK_MS))
  }
  if (health.state === 'probing') {
    if (isUnanswered(0)) return hold('endpoint-cooling-down', CHECK_ENDPOINT_MS)
    return { pace: firstPace(nowMs), take: 1, waitMs: CHECK_ENDPOINT_MS, waitingFor: null }
  }
  if (isUnanswered(UNANSWERED_MS)) return hold('endpoint-answers', CHECK_ENDPOINT_MS)
  const next = nextPace(pace, sample.kind, health.consecutiveFailures, mostPerSecond, nowMs)
  const take = Math.max(1, Math.floor(next.perSecond / TURNS_PER_SECOND))
  return { pace: next, take, waitMs: (take * 1_000) / next.perSecond, waitingFor: null }
}

function nextPace(pace: Pace, sample: Sample['kind'], failures: number, mostPerSecond: number, nowMs: number): Pace {
  const isGoingWell = sample !== 'failed' && failures === 0
  const isProven = isGoingWell && (pace.isProven || sample === 'acknowledged')
  const elapsedMs = nowMs - pace.sinceMs
  if (!isGoingWell && elapsedMs >= FALL_MS) return changed(pace.perSecond / 2)
  // A lower limit than before holds at once.
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
