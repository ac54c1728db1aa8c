import type { StreamMessage } from '@switchhook/client'
import { eventPhrase } from './event.ts'
import type { Tone } from './tone.ts'
import { duration, outcomePhrase } from './words.ts'

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
