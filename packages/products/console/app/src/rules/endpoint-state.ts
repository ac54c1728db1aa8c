import type { Health, SummaryItem } from '../api/model.ts'
import type { Tone } from './tone.ts'
import { outcomePhrase } from './words.ts'

interface Endpoint
  extends Pick<SummaryItem, 'mode' | 'enabled' | 'oldestHeldAt' | 'deleteAfterUnusedSeconds' | 'health'> {
  readonly paused: boolean | null
  /** ISO 8601; of a summary, `paused` says it. */
  readonly pausedUntil?: string | null
}

/** How an endpoint is, in a word, for lists and headings. */
export interface EndpointState {
  readonly tone: Tone
  readonly label: string
  /** Why, as a sentence without a subject; null if there is nothing to say. */
  readonly why: string | null
}

/** Clients that receive are never that late. */
const BEHIND_MS = 60_000

export function endpointState(endpoint: Endpoint, nowMs = Date.now()): EndpointState {
  const { mode, enabled, oldestHeldAt, deleteAfterUnusedSeconds, health } = endpoint
  if (!enabled) return { tone: 'quiet', label: 'Disabled', why: 'It receives no events.' }
  if (isPaused(endpoint, nowMs))
    return { tone: 'quiet', label: 'Paused', why: 'Its deliveries are held until it is resumed.' }
  if (mode === 'pull' && oldestHeldAt !== null && Date.parse(oldestHeldAt) < nowMs - BEHIND_MS) {
    // That of a laptop is often away.
    const tone = deleteAfterUnusedSeconds === null ? 'warn' : 'quiet'
    return { tone, label: 'Behind', why: 'Its clients do not receive its deliveries in time.' }
  }
  const why = `It ${outcomePhrase(health.lastFailureOutcome, health.lastFailureStatus)}.`
  if (health.state === 'open') return { tone: 'bad', label: 'Cooling down', why }
  if (health.state === 'probing') return { tone: 'warn', label: 'Probing', why }
  if (health.consecutiveFailures > 0 || failedLast(health)) return { tone: 'warn', label: 'Failing', why }
  if (health.lastSuccessAt === null && health.lastFailureAt === null)
    return { tone: 'quiet', label: 'Not used yet', why: 'Nothing was sent to it so far.' }
  return { tone: 'good', label: 'Healthy', why: null }
}

export const isPaused = (endpoint: Pick<Endpoint, 'paused' | 'pausedUntil'>, nowMs = Date.now()): boolean =>
  endpoint.paused === true || (endpoint.pausedUntil != null && Date.parse(endpoint.pausedUntil) > nowMs)

/** A refusal such as 401 does not count towards a cool-down, but the endpoint is ill all the same. */
const failedLast = ({ lastFailureAt, lastSuccessAt }: Health): boolean =>
  lastFailureAt !== null && (lastSuccessAt === null || lastFailureAt > lastSuccessAt)
