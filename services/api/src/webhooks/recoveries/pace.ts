import type { EndpointHealth } from '@switchhook/store'

export interface Pace {
  readonly perSecond: number
  /** When the recovery began, or can continue after its last pause, in ms since 1970. */
  readonly sinceMs: number
}

export interface Conditions {
  readonly isEnabled: boolean
  /** What is sent would be held, and the end of the pause would release it faster than the rate of the recovery. */
  readonly isPaused: boolean
  readonly health: EndpointHealth
  /** How long the sample, one of the deliveries sent last, has had no result; null: it has one, or there is no sample. */
  readonly unansweredMs: number | null
  readonly mostPerSecond: number
  /** Time since the recovery last made progress. */
  readonly stalledMs: number
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** Why a recovery sends nothing now. */
export const WAITING_FOR = [
  'endpoint-cooling-down',
  'endpoint-answers',
  'subscription-enabled',
  'subscription-resumed',
  'broker',
] as const

export type WaitingFor = (typeof WAITING_FOR)[number]

/** The rate doubles after this time. */
export const RISE_MS = 3_000
/** While a delivery has no result for this long, nothing more is sent: new events of the subscription would queue behind it. */
export const UNANSWERED_MS = 3_000
const STEPS_PER_SECOND = 5
const CHECK_SUBSCRIPTION_MS = 2_000
/** A subscription can stay disabled or paused for weeks. */
const MAX_CHECK_MS = 60_000
const CHECK_ENDPOINT_MS = 1_000
const MAX_COOLDOWN_CHECK_MS = 5_000

/** The pace at the beginning and after a pause. */
export const firstPace = (sinceMs: number): Pace => ({ perSecond: 1, sinceMs })

/**
 * Decides how many deliveries a step sends, and when the next step begins. The rate begins at one delivery per second and
 * doubles every three seconds. A cool-down, a disabled or paused subscription or a missing result pauses the recovery; then
 * it begins at one again, after a cool-down with a single delivery as the probe. Pure.
 */
export function planStep(
  { sinceMs }: Pace,
  { isEnabled, isPaused, health, unansweredMs, mostPerSecond, stalledMs, nowMs }: Conditions,
) {
  const pause = (waitingFor: WaitingFor, atLeastMs: number, atMostMs = atLeastMs) => {
    const waitMs = Math.min(atLeastMs, atMostMs)
    return { pace: firstPace(nowMs + waitMs), take: 0, waitMs, waitingFor }
  }

  // Waiting as long again as it has waited so far makes the checks rarer.
  const checkMs = Math.max(stalledMs, CHECK_SUBSCRIPTION_MS)
  if (!isEnabled) return pause('subscription-enabled', checkMs, MAX_CHECK_MS)
  if (isPaused) return pause('subscription-resumed', checkMs, MAX_CHECK_MS)
  if (health.state === 'open') {
    const leftMs = (health.openUntilMs ?? nowMs) - nowMs
    return pause('endpoint-cooling-down', Math.max(leftMs, CHECK_ENDPOINT_MS), MAX_COOLDOWN_CHECK_MS)
  }
  const isProbing = health.state === 'probing'
  if (isProbing && unansweredMs !== null) return pause('endpoint-cooling-down', CHECK_ENDPOINT_MS)
  if (unansweredMs !== null && unansweredMs >= UNANSWERED_MS) return pause('endpoint-answers', CHECK_ENDPOINT_MS)
  const risenMs = isProbing ? 0 : Math.max(0, nowMs - sinceMs)
  const perSecond = Math.min(mostPerSecond, 2 ** Math.floor(risenMs / RISE_MS))
  const take = Math.max(1, Math.floor(perSecond / STEPS_PER_SECOND))
  // The clock of the replica that began may be ahead of this one's.
  const pace = { perSecond, sinceMs: isProbing ? nowMs : Math.min(sinceMs, nowMs) }
  return { pace, take, waitMs: (take * 1_000) / perSecond, waitingFor: null }
}
