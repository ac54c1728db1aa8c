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

export const useFreshness = (): Freshness => useStore(store)

/**
 * Follows the stream. Refreshes what a message makes old, and everything after a gap, after sleep, and when the API is back.
 * Returns the function that stops.
 */
export function keepFresh(queries: QueryClient): () => void {
  let stream: StreamState = 'connecting'
  let isAway = false
  let answeredAtMs = Date.now()

  function publish(): void {
    const state = isAway || stream === 'away' ? 'away' : stream === 'unavailable' ? 'polling' : stream
    const shown = store.get()
    if (state === shown.state && (state !== 'away' || answeredAtMs === shown.answeredAtMs)) return
    store.set({ state, answeredAtMs })
  }

  const refreshAll = (): void => void queries.invalidateQueries()
  const wake = (): void => {
    if (!document.hidden) refreshAll()
  }
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

  const close = openStream({
    onMessage: (message) => {
      if (message.type === 'gap') return refreshAll()
      refreshDelivery()
      if (message.type === 'event' && /^(call|agent)\./.test(message.event.eventType)) refreshVoice()
    },
    onState: (state) => {
      if (state === 'live' && stream === 'away') refreshAll()
      stream = state
      publish()
    },
  })
  document.addEventListener('visibilitychange', wake)
  return () => {
    unsubscribe()
    close()
    document.removeEventListener('visibilitychange', wake)
  }
}
