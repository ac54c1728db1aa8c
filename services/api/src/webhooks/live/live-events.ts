import { type JournalEntry, type JournalId, type LiveAttempt } from '@switchhook/store'
import { isAbout } from '../deliveries/delivery-query.ts'

/** Which events and attempts a listener gets. An absent field matches anything. */
export type LiveFilter = { readonly [Field in 'eventType' | 'callId' | 'agentUri' | 'subscriptionId']?: string }

/** One thing that the stream can show, with its text. The text is built at most once, however many listeners get it. */
export interface LiveItem {
  readonly matches: (filter: LiveFilter) => boolean
  readonly text: () => string
}

/** An event of the journal. Its id is the place at which a listener can resume. */
export type LiveEvent = LiveItem & { readonly id: JournalId }

export function liveEvent(entry: JournalEntry): LiveEvent {
  const { id, eventId, eventType, occurredAt, subscriptionIds, subscriptionCount, subject, dataJson } = entry
  return {
    id,
    matches: (filter) =>
      (filter.eventType === undefined || filter.eventType === eventType) &&
      // An event of more subscriptions than are listed may have gone to any.
      (filter.subscriptionId === undefined ||
        subscriptionIds.length < subscriptionCount ||
        subscriptionIds.some((each) => each === filter.subscriptionId)) &&
      ((filter.callId === undefined && filter.agentUri === undefined) || isAbout(filter, subject)),
    text: once(() => {
      const about = JSON.stringify({ eventId, eventType, occurredAt }).slice(0, -1)
      const rest = JSON.stringify({ subscriptions: subscriptionIds, subscriptionCount }).slice(1)
      // The data exactly as journaled: parsing it could change numbers.
      return `id: ${id}\nevent: event\ndata: ${about},"data":${dataJson ?? 'null'},${rest}\n\n`
    }),
  }
}

export function liveAttempt({ callId, agentUri, ...attempt }: LiveAttempt): LiveItem {
  return {
    matches: (filter) =>
      (filter.eventType === undefined || filter.eventType === attempt.eventType) &&
      (filter.subscriptionId === undefined || filter.subscriptionId === attempt.subscriptionId) &&
      isAbout(filter, { callId, agentUri }),
    text: once(() => `event: attempt\ndata: ${JSON.stringify(attempt)}\n\n`),
  }
}

/**
 * Events or attempts between two places are missing.
 * @param after the place up to which the listener has everything @param resumedAt the place from which the stream continues
 */
export const gapText = (after: JournalId, resumedAt: JournalId): string =>
  `event: gap\ndata: ${JSON.stringify({ after, resumedAt })}\n\n`

/** Tells the place at which the client resumes. It has data, because parsers do not report a block with an id alone as an event. */
export const placeText = (id: JournalId): string =>
  `id: ${id}\nevent: place\ndata: ${JSON.stringify({ place: id })}\n\n`

export const commentText = (text: string): string => `: ${text}\n\n`

function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined
  return () => (known ??= { value: compute() }).value
}
