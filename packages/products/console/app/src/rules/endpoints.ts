import type { Health, ParkedGroup, Recovery, SummaryItem } from '../api/model.ts'
import { capital, deliveries, outcomePhrase, RANK_OF_TONE, recoveryWait, shortUrl, type Tone } from './words.ts'

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

/** One thing that a person should look at now. */
export interface Attention {
  readonly tone: 'bad' | 'warn'
  readonly title: string
  readonly detail: string
  /** ISO 8601; null if not known. */
  readonly since: string | null
  readonly subscriptionId: string
  /** A running or waiting recovery to look at. */
  readonly recoveryId?: string
  readonly parked: number
  /** No request can be sent to it. */
  readonly isPull?: boolean
}

export const endpointName = ({ description, url }: Pick<SummaryItem, 'description' | 'url'>): string =>
  description || shortUrl(url)

/** The worst first: endpoints that fail or have parked deliveries (one entry each), and recoveries that cannot go on. */
export function attentionOf(
  endpoints: readonly SummaryItem[],
  parked: readonly ParkedGroup[],
  recoveries: readonly Recovery[],
): readonly Attention[] {
  const ill = endpoints.flatMap((endpoint): Attention[] => {
    const state = endpointState(endpoint)
    const isFailing = state.tone === 'bad' || state.tone === 'warn'
    if (!isFailing && endpoint.parked === 0) return []
    // The API has the largest first.
    const group = parked.find(({ subscriptionId }) => subscriptionId === endpoint.subscriptionId)
    const tone = state.tone === 'bad' || endpoint.parked > 0 ? 'bad' : 'warn'
    return [
      {
        tone,
        title: endpointName(endpoint),
        detail: sentencesOf(endpoint, state, isFailing, group),
        since: sinceOf(endpoint, isFailing, group),
        subscriptionId: endpoint.subscriptionId,
        parked: endpoint.parked,
        isPull: endpoint.mode === 'pull',
      },
    ]
  })
  const waiting = recoveries
    .filter(({ state }) => state === 'paused')
    .map(
      ({ recoveryId, subscriptionId, waitingFor, remaining, updatedAt }): Attention => ({
        tone: 'warn',
        title: 'Recovery is waiting',
        detail: `It waits for ${recoveryWait(waitingFor ?? 'broker')}. ${deliveries(remaining)} remain.`,
        since: updatedAt,
        subscriptionId,
        recoveryId,
        parked: 0,
      }),
    )
  return [...ill, ...waiting].toSorted((a, b) => RANK_OF_TONE[a.tone] - RANK_OF_TONE[b.tone] || b.parked - a.parked)
}

function sentencesOf(endpoint: SummaryItem, state: EndpointState, isFailing: boolean, group?: ParkedGroup): string {
  const { health, waiting, held, parked } = endpoint
  const { outcome, status } = group ?? { outcome: health.lastFailureOutcome, status: health.lastFailureStatus }
  const backlog = [
    parked > 0 && `${deliveries(parked)} parked`,
    waiting > 0 && `${deliveries(waiting)} waiting for a retry`,
    held > 0 && `${deliveries(held)} held`,
  ].filter(Boolean)
  const first = isFailing
    ? `${state.label}: ${state.why?.replace(/^I/, 'i')}`
    : `It works again, but it ${outcomePhrase(outcome, status)} before.`
  return backlog.length === 0 ? first : `${first} ${capital(backlog.join(', '))}.`
}

/** An endpoint is ill since its first failure after a success; parked deliveries exist since the oldest. */
function sinceOf(endpoint: SummaryItem, isFailing: boolean, group?: ParkedGroup): string | null {
  const { mode, health, oldestHeldAt, oldestParkedAt } = endpoint
  const parkedSince = oldestParkedAt ?? group?.since ?? null
  const failingSince = mode === 'pull' ? (oldestHeldAt ?? health.failingSince) : health.failingSince
  return isFailing ? (failingSince ?? parkedSince) : parkedSince
}
