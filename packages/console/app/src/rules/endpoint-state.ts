import type { Health } from '../api/model.ts'
import type { Tone } from './repair.ts'
import { outcomePhrase } from './words.ts'

interface Endpoint {
  readonly enabled: boolean
  readonly health: Health
}

/** How an endpoint is, in a word, for lists and headings. */
export interface EndpointState {
  readonly tone: Tone
  readonly label: string
  /** Why, as a sentence without a subject; null if there is nothing to say. */
  readonly why: string | null
}

export function endpointState({ enabled, health }: Endpoint): EndpointState {
  if (!enabled) return { tone: 'quiet', label: 'Disabled', why: 'It receives no events.' }
  const why = `It ${outcomePhrase(health.lastFailureOutcome, health.lastFailureStatus)}.`
  if (health.state === 'open') return { tone: 'bad', label: 'Cooling down', why }
  if (health.state === 'probing') return { tone: 'warn', label: 'Probing', why }
  if (health.consecutiveFailures > 0 || failedLast(health)) return { tone: 'warn', label: 'Failing', why }
  if (health.lastSuccessAt === null && health.lastFailureAt === null)
    return { tone: 'quiet', label: 'Not used yet', why: 'Nothing was sent to it so far.' }
  return { tone: 'good', label: 'Healthy', why: null }
}

/** A refusal such as 401 does not count towards a cool-down, but the endpoint is ill all the same. */
const failedLast = ({ lastFailureAt, lastSuccessAt }: Health): boolean =>
  lastFailureAt !== null && (lastSuccessAt === null || lastFailureAt > lastSuccessAt)
