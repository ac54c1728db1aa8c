import type { QueryClient } from '@tanstack/react-query'
import { isAway as isAwayFor } from '../api/client.ts'
import { isLongList } from '../api/queries.ts'
import { createStore, useStore } from '../store.ts'
import { paced } from './paced.ts'
import { openStream, type StreamState } from './stream.ts'

interface Freshness {
  /** `live`: changes arrive immediately. `polling`: every few seconds. `away`: the API does not answer. */
  readonly state: 'connecting' | 'live' | 'polling' | 'away'
  /** When the API last answered, in ms since 1970. */
  readonly answeredAtMs: number
}

const store = createStore<Freshness>({ state: 'connecting', answeredAtMs: Date.now() })

const SHOWN = { connecting: 'connecting', live: 'live', unavailable: 'polling' } as const

/** A stream ends when its token expires or a process stops, and is back within a second or two. Until then it counts as live. */
const PATIENCE_MS = 4_000

export const useFreshness = (): Freshness => useStore(store)

/**
 * Follows the stream while the page is shown: over HTTP/1.1 a browser has six connections to a host, for all its tabs.
 * Refreshes what a message makes old, and everything after a gap, when the page is shown again, and when the API is back.
 * Returns the function that stops.
 */
export function keepFresh(queries: QueryClient): () => void {
  let stream: StreamState = 'connecting'
  /** The state according to the stream alone. */
  let ofStream: Freshness['state'] = 'connecting'
  let patience: ReturnType<typeof setTimeout> | undefined
  let close: (() => void) | undefined
  let isAway = false
  let answeredAtMs = Date.now()

  function publish(): void {
    const state = isAway ? 'away' : ofStream
    const shown = store.get()
    if (state === shown.state && (state !== 'away' || answeredAtMs === shown.answeredAtMs)) return
    store.set({ state, answeredAtMs })
  }

  const refreshAll = (): void => void queries.invalidateQueries()
  const refresherOf = (group: 'delivery' | 'voice') =>
    paced(() => queries.invalidateQueries({ queryKey: [group], predicate: ({ state }) => !isLongList(state.data) }))
  const refreshDelivery = refresherOf('delivery')
  const refreshVoice = refresherOf('voice')

  const unsubscribe = queries.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated') return
    const { error, fetchFailureReason, status, fetchStatus, dataUpdatedAt } = query.state
    const failure = fetchFailureReason ?? error
    if (isAwayFor(failure)) isAway = true
    else if (status === 'success' && fetchStatus === 'idle' && dataUpdatedAt > answeredAtMs) {
      answeredAtMs = dataUpdatedAt
      isAway = false
    }
    publish()
  })

  const open = (isShownAgain: boolean) =>
    openStream({
      onMessage: (message) => {
        if (message.type === 'gap') return refreshAll()
        refreshDelivery()
        if (message.type === 'event' && /^(call|agent)\./.test(message.event.eventType)) refreshVoice()
      },
      onState: (state) => {
        const before = stream
        stream = state
        if (state !== 'away') follow(SHOWN[state])
        else if (before === 'live') patience = setTimeout(() => follow('away'), PATIENCE_MS)
        else if (patience === undefined) follow('away')
        if (state === 'connecting') return
        // Not before, because what changes until then is not reported.
        if (before === 'connecting' ? isShownAgain : before === 'away' && state === 'live') refreshAll()
      },
    })

  function follow(next: Freshness['state']): void {
    clearTimeout(patience)
    patience = undefined
    ofStream = next
    publish()
  }

  function followWhileShown(): void {
    close?.()
    close = document.hidden ? undefined : open(true)
  }

  if (!document.hidden) close = open(false)
  document.addEventListener('visibilitychange', followWhileShown)
  return () => {
    unsubscribe()
    close?.()
    clearTimeout(patience)
    document.removeEventListener('visibilitychange', followWhileShown)
  }
}
