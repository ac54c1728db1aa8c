import { type StreamMessage, SwitchhookError } from '@switchhook/client'
import { client } from '../api/client.ts'
import { SignedOut } from '../session/session.ts'

/** `unavailable`: the API refuses the stream; the console polls. */
export type StreamState = 'connecting' | 'live' | 'away' | 'unavailable'

interface StreamOptions {
  readonly filters?: Readonly<Record<string, string>>
  readonly onMessage: (message: StreamMessage) => void
  readonly onState: (state: StreamState) => void
}

const AWAY_RETRY_MS = 5_000
const REFUSED_RETRY_MS = 60_000

/** Follows the live stream until it is closed. Returns the function that closes it. */
export function openStream({ filters = {}, onMessage, onState }: StreamOptions): () => void {
  const closing = new AbortController()
  let waking = new AbortController()
  let place: string | undefined
  let state: StreamState

  function report(next: StreamState): void {
    state = next
    onState(next)
  }

  /** The computer wakes up, the network returns or the page is shown: connect without a wait. */
  function wake(): void {
    if (state !== 'live' && !document.hidden) waking.abort()
  }
  window.addEventListener('online', wake, { signal: closing.signal })
  document.addEventListener('visibilitychange', wake, { signal: closing.signal })

  async function followForever(): Promise<void> {
    report('connecting')
    while (!closing.signal.aborted) {
      waking = new AbortController()
      const signal = AbortSignal.any([closing.signal, waking.signal])
      let isRefused = false
      try {
        const messages = client.events.stream(filters, { signal, onState: report, ...(place && { after: place }) })
        for await (const message of messages) {
          if ('place' in message) place = message.place
          onMessage(message)
        }
      } catch (error) {
        if (error instanceof SignedOut) return
        // The installation keeps no journal, or the tenant has too many listeners.
        isRefused = error instanceof SwitchhookError && error.status < 500
      }
      if (closing.signal.aborted) return
      report(isRefused ? 'unavailable' : 'away')
      await pause(isRefused ? REFUSED_RETRY_MS : AWAY_RETRY_MS * (0.5 + Math.random()), signal)
    }
  }
  void followForever()
  return () => closing.abort()
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    setTimeout(resolve, ms)
    signal.addEventListener('abort', () => resolve())
  })
