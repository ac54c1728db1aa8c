import type { StreamMessage } from '@switchhook/client'
import type { Explanation } from '../api/model.ts'
import { progressOfVerdict } from './repair.ts'
import { agentName, callState, duration, outcomePhrase, type Tone } from './words.ts'

type Data = Readonly<Record<string, unknown>>

/** What an event reports: `connected`, `status 50`. Empty for other events. */
export function eventState(data: Data): string {
  if (typeof data['state'] === 'number') return callState(data['state'])
  return typeof data['statusCode'] === 'number' ? `status ${data['statusCode']}` : ''
}

/** Who and what, from the data of a call or agent event: `alice connected, +15550147`. */
export function eventPhrase(data: Data): string {
  const agent = typeof data['agentUri'] === 'string' ? agentName(data['agentUri']) : ''
  const remote = data['remoteParty'] as { readonly number?: string | null; readonly uri?: string | null } | undefined
  const other = remote?.number ?? remote?.uri
  const phrase = `${agent} ${eventState(data)}`.trim()
  return other == null || phrase === '' ? phrase : `${phrase}, ${other}`
}

/** How far an event got, over all endpoints that it was for. */
export function progressOf(explanations: readonly Pick<Explanation, 'verdict'>[]): {
  readonly tone: Tone
  readonly text: string
} {
  const count = (progress: ReturnType<typeof progressOfVerdict>): number =>
    explanations.filter(({ verdict }) => progressOfVerdict(verdict) === progress).length
  const [delivered, late, parked] = [count('delivered'), count('late'), count('parked')]
  const total = delivered + late + parked
  if (total === 0) return { tone: 'quiet', text: 'for no endpoint' }
  const tone = parked > 0 ? 'bad' : late > 0 ? 'warn' : 'good'
  if (delivered === total) return { tone, text: total === 1 ? 'delivered' : `all ${total} delivered` }
  const parts = [
    parked > 0 && `${parked} parked`,
    late > 0 && `${late} waiting`,
    delivered > 0 && `${delivered} delivered`,
  ].filter(Boolean)
  return { tone, text: total === 1 ? (parked === 1 ? 'parked' : 'waiting') : parts.join(', ') }
}

/** A message of the live stream, as a row. */
export interface TailRow {
  readonly key: string
  readonly kind: 'event' | 'attempt' | 'gap'
  readonly tone: Tone
  /** ISO 8601. */
  readonly at: string
  readonly eventType: string
  readonly eventId: string | null
  /** The endpoint of an attempt. */
  readonly subscriptionId: string | null
  readonly text: string
}

/** Older rows are dropped. */
export const MAX_TAIL_ROWS = 10_000

/** The newest first. `arrived` has the oldest first. */
export const addRows = (shown: readonly TailRow[], arrived: readonly TailRow[]): readonly TailRow[] =>
  [...arrived.toReversed(), ...shown].slice(0, MAX_TAIL_ROWS)

let rowNumber = 0

export function rowOf(message: StreamMessage): TailRow {
  const base = { key: String(++rowNumber), eventType: '', eventId: null, subscriptionId: null }
  switch (message.type) {
    case 'event':
    case 'other': {
      const { eventId, eventType, occurredAt, data } = message.event
      const text = data === null ? '' : eventPhrase(data)
      return { ...base, kind: 'event', tone: 'quiet', at: occurredAt, eventType, eventId, text }
    }
    case 'attempt': {
      const { eventId, subscriptionId, eventType, at, attempt, outcome, status, durationMs, state } = message.attempt
      const tone = outcome === 'delivered' ? 'good' : state === 'parked' ? 'bad' : 'warn'
      const text = `attempt ${attempt} ${outcomePhrase(outcome, status)} after ${duration(durationMs)}, ${state}`
      return { ...base, kind: 'attempt', tone, at, eventType, eventId, subscriptionId, text }
    }
    case 'gap': {
      const text = message.eventsLost ? 'some messages were lost' : 'some attempts are missing'
      return { ...base, kind: 'gap', tone: 'warn', at: new Date().toISOString(), text }
    }
  }
}

/** What a person pasted into the search box. */
export interface Sought {
  /** `id`: of an event, delivery, call, endpoint or recovery; otherwise the parameter of the API. */
  readonly kind: 'id' | 'agentUri' | 'number' | 'correlationId'
  readonly value: string
  /** To look for if nothing is found: applications choose correlation ids, which can look like anything. */
  readonly orCorrelationId?: string
}

const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
/** Of a correlation id or an address that the API looks for. */
const MAX_LENGTH = 256
/** Of a phone number that the API looks for. */
const MAX_NUMBER_LENGTH = 64

/** Recognises the kind of a search text. An id is found inside a longer text, such as a URL or a log line. */
export function recognise(text: string): Sought | null {
  const trimmed = text.trim()
  if (trimmed === '') return null
  const other = kindOf(trimmed)
  if (other === undefined) return { kind: 'correlationId', value: trimmed }
  return { ...other, ...(trimmed.length <= MAX_LENGTH && { orCorrelationId: trimmed }) }
}

function kindOf(text: string): Sought | undefined {
  const guid = GUID.exec(text)?.[0]
  if (guid !== undefined) return { kind: 'id', value: guid.toLowerCase() }
  const address = /^(sips?|tel):/i.test(text) ? text : /^[^\s@]+@[^\s@]+$/.test(text) ? `sip:${text}` : undefined
  if (address !== undefined && address.length <= MAX_LENGTH) return { kind: 'agentUri', value: address }
  if (!/^\+?[\d\s().\-/]+$/.test(text)) return undefined
  const number = text.replaceAll(/[^\d+]/g, '')
  // The API refuses a number of zeros, because it would find every number.
  const isNumber = /\d{4}/.test(number) && /[1-9]/.test(number) && number.length <= MAX_NUMBER_LENGTH
  return isNumber ? { kind: 'number', value: number } : undefined
}
