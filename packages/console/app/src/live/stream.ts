import { createParser } from 'eventsource-parser'
import type { StreamAttempt, StreamEvent } from '../api/model.ts'
import { apiUrl } from '../api/request.ts'
import { accessToken, SignedOut } from '../session/session.ts'

/** One message of the live stream. */
export type LiveMessage =
  | { readonly type: 'event'; readonly event: StreamEvent }
  | { readonly type: 'attempt'; readonly attempt: StreamAttempt }
  /** History was lost: everything on the screen may be old. */
  | { readonly type: 'gap' }

/** `unavailable`: the API refuses the stream; the console polls. */
export type StreamState = 'connecting' | 'live' | 'away' | 'unavailable'

interface StreamOptions {
  readonly filters?: Readonly<Record<string, string | undefined>>
  readonly onMessage: (message: LiveMessage) => void
  readonly onState: (state: StreamState) => void
}

const PATH = '/api/v1/webhooks/stream'

/** The api pings every 15 s, so a longer silence is a dead connection, for example after sleep. */
const SILENCE_MS = 35_000

/** The installation keeps no journal, or the tenant has too many listeners. */
const REFUSALS: ReadonlySet<number> = new Set([404, 409, 429])
const REFUSED_RETRY_MS = 60_000

const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 15_000

/**
 * Reads the live stream and reconnects until it is closed; it resumes after the last event that it has seen. EventSource
 * cannot send a bearer token, so this is fetch. Returns the function that closes it.
 */
export function openStream({ filters = {}, onMessage, onState }: StreamOptions): () => void {
  const closing = new AbortController()
  let lastEventId: string | undefined
  let retryMs = FIRST_RETRY_MS

  async function readOnce(): Promise<'ended' | 'refused'> {
    const connection = new AbortController()
    const signal = AbortSignal.any([closing.signal, connection.signal])
    let watchdog = setTimeout(() => connection.abort(), SILENCE_MS)
    try {
      const token = await accessToken()
      const response = await fetch(urlOf(filters), {
        headers: {
          accept: 'text/event-stream',
          authorization: `Bearer ${token}`,
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        },
        signal,
      })
      if (response.status === 401) await accessToken(token)
      if (REFUSALS.has(response.status)) return 'refused'
      if (!response.ok || response.body === null) return 'ended'
      onState('live')
      retryMs = FIRST_RETRY_MS
      const parser = createParser({
        onEvent: ({ event, data, id }) => {
          if (id !== undefined && id !== '') lastEventId = id
          const message = readMessage(event, data)
          if (message !== undefined) onMessage(message)
        },
      })
      for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
        clearTimeout(watchdog)
        watchdog = setTimeout(() => connection.abort(), SILENCE_MS)
        parser.feed(text)
      }
      return 'ended'
    } finally {
      clearTimeout(watchdog)
    }
  }

  async function readForever(): Promise<void> {
    onState('connecting')
    while (!closing.signal.aborted) {
      let result: 'ended' | 'refused' = 'ended'
      try {
        result = await readOnce()
      } catch (error) {
        if (error instanceof SignedOut) return
      }
      if (closing.signal.aborted) return
      onState(result === 'refused' ? 'unavailable' : 'away')
      await wakeOrWait(result === 'refused' ? REFUSED_RETRY_MS : retryMs * (0.5 + Math.random()), closing.signal)
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
    }
  }
  void readForever()
  return () => closing.abort()
}

function urlOf(filters: Readonly<Record<string, string | undefined>>): URL {
  const url = apiUrl(PATH)
  for (const [name, value] of Object.entries(filters)) if (value) url.searchParams.set(name, value)
  return url
}

function readMessage(type: string | undefined, data: string): LiveMessage | undefined {
  switch (type) {
    case 'event':
      return { type, event: JSON.parse(data) as StreamEvent }
    case 'attempt':
      return { type, attempt: JSON.parse(data) as StreamAttempt }
    case 'gap':
      return { type }
    default:
      return undefined
  }
}

/** Ends early when the computer wakes up, the network returns or the page is shown. */
function wakeOrWait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const waking = new AbortController()
    const wake = (): void => {
      clearTimeout(timer)
      waking.abort()
      resolve()
    }
    const timer = setTimeout(wake, ms)
    signal.addEventListener('abort', wake, { signal: waking.signal })
    window.addEventListener('online', wake, { signal: waking.signal })
    document.addEventListener('visibilitychange', () => document.hidden || wake(), { signal: waking.signal })
  })
}
