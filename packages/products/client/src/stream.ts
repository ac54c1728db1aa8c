import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { either, waitMs } from './deadline.ts'
import { Failure, NoAnswer } from './errors.ts'
import { isObject, parsed, strange } from './fetch-answer.ts'
import { EVENT_TYPES } from './generated/numbers.ts'
import type { Schemas } from './generated/schemas.ts'
import { backoffMs } from './retry.ts'

type Event = Schemas['StreamEvent']

/** The event of one type, with its data. */
type EventOf<Delivery> = Delivery extends { eventType: infer Type; data: infer Data }
  ? Omit<Event, 'eventType' | 'data'> & { eventType: Type; data: Data | null }
  : never

/** An event whose type this client knows: `eventType` tells its `data`, which is null if it is too large for the stream. */
export type KnownEvent = EventOf<Schemas['WebhookDelivery']>

export type UnknownEvent = Omit<Event, 'eventType'> & { eventType: string }

/** One POST of a delivery, and the state of the delivery after it. */
export type StreamAttempt = Schemas['StreamAttempt']

/** A message of the live stream. `place` resumes a later stream (`after`). */
export type StreamMessage =
  | { readonly type: 'event'; readonly place: string; readonly event: KnownEvent }
  /** An event of a type that this client does not know. */
  | { readonly type: 'other'; readonly place: string; readonly event: UnknownEvent }
  | { readonly type: 'attempt'; readonly attempt: StreamAttempt }
  /** Attempts between two places are missing and, if `eventsLost`, events too. Read what you show again. */
  | { readonly type: 'gap'; readonly after: string; readonly resumedAt: string; readonly eventsLost: boolean }

export interface StreamOptions {
  readonly signal?: AbortSignal
  /** Begins after this place. */
  readonly after?: string
  /** Begins with the events from this time on, as far as the journal has them. */
  readonly since?: Date | string
  /** `live`: connected. `away`: the connection is lost; the stream reconnects automatically. */
  readonly onState?: (state: 'live' | 'away', error?: unknown) => void
}

/** The names of messages that are read. Later versions may send others. */
const MESSAGES: readonly unknown[] = ['event', 'attempt', 'gap']

/** The API sends its place after 15 s without a message, so a longer silence is a dead connection. */
const SILENCE_MS = 35_000
const FIRST_RECONNECT_MS = 1_000

/**
 * Follows the live stream, and reconnects after the last place. The first connection fails like any call; a later one is
 * tried until it succeeds or is refused for good.
 * After a gap it reconnects once from the place before it: events that the server dropped for a slow reader are then sent
 * again. A second gap there is a loss.
 */
export async function* follow(
  open: (place: string | undefined, since: string | undefined, signal: AbortSignal) => Promise<Response>,
  { after, since, signal, onState }: StreamOptions = {},
): AsyncGenerator<StreamMessage, void, undefined> {
  let place = after
  let gap: { readonly after: string; readonly resumedAt: string } | undefined
  let hasOpened = false
  for (let failures = 0; ; ) {
    const connection = new AbortController()
    let isGapNew = false
    let error: unknown
    try {
      const response = await open(
        place,
        place === undefined && since ? new Date(since).toISOString() : undefined,
        either(connection.signal, signal),
      )
      hasOpened = true
      onState?.('live')
      let isFirst = true
      for await (const { event: type, id, data } of messagesOf(response, connection)) {
        failures = 0
        const value = parsed(data)
        if (!isObject(value) && MESSAGES.includes(type)) throw strange(response, response.url)
        if (type === 'gap') {
          const found = value as NonNullable<typeof gap>
          isGapNew = gap === undefined
          if (isGapNew) {
            gap = found
            place = found.after
            break
          }
          yield { type, ...gap, ...found, eventsLost: true }
          gap = undefined
        } else if (gap !== undefined && !(isFirst && type === 'place')) {
          yield { type: 'gap', ...gap, eventsLost: false }
          gap = undefined
        }
        isFirst = false
        if (id) place = id
        if (type === 'attempt') yield { type, attempt: value as StreamAttempt }
        if (type === 'event') yield eventMessage(id ?? '', value as UnknownEvent)
      }
    } catch (thrown) {
      if (!hasOpened || isFinal(thrown)) throw thrown
      error = thrown
    } finally {
      connection.abort()
    }
    signal?.throwIfAborted()
    if (isGapNew) continue
    onState?.('away', error)
    await waitMs(backoffMs(failures++, Math.random(), FIRST_RECONNECT_MS), signal)
  }
}

const KNOWN: readonly string[] = EVENT_TYPES

const eventMessage = (place: string, event: UnknownEvent): StreamMessage =>
  KNOWN.includes(event.eventType)
    ? { type: 'event', place, event: event as KnownEvent }
    : { type: 'other', place, event }

/** Whether another connection would fail too: the API or the identity provider refuses, or `auth` gives up. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Failure)) return true
  const { status } = error
  return status !== undefined && status < 500 && status !== 429
}

/** The messages of one connection. It reads only when the consumer is ready, so that a slow one slows the server down. */
async function* messagesOf(response: Response, connection: AbortController): AsyncGenerator<EventSourceMessage> {
  const messages: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (message) => messages.push(message) })
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  for (;;) {
    // oxlint-disable-next-line no-restricted-globals -- the server speaks at least every 15 s
    const watchdog = setTimeout(() => connection.abort(), SILENCE_MS)
    const read = await reader
      ?.read()
      .catch((cause: unknown) => {
        throw new NoAnswer('The stream broke.', { cause })
      })
      .finally(() => clearTimeout(watchdog))
    if (read === undefined || read.done) return
    parser.feed(decoder.decode(read.value, { stream: true }))
    yield* messages.splice(0)
  }
}
