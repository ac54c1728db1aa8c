import type { QueryClient } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { isAway as isAwayFor } from '../api/client.ts'
import { isLongList } from '../api/queries.ts'
import { createStore, useStore } from '../store.ts'
import { paced } from './paced.ts'
import { openStream, type StreamState } from './stream.ts'

/** Whether the screen is up to date. */
export interface Freshness {
  /** `live`: changes arrive immediately. `polling`: every few seconds. `away`: the API does not answer. */
  readonly state: 'connecting' | 'live' | 'polling' | 'away'
  /** When the API last answered, in ms since 1970. */
  readonly answeredAtMs: number
}

/** Refreshes what a message of the stream makes old, and everything after a gap, after sleep, and when the API is back. */
export function createFreshness(queries: QueryClient) {
  let stream: StreamState = 'connecting'
  let isAway = false
  let answeredAtMs = Date.now()
  const store = createStore<Freshness>({ state: 'connecting', answeredAtMs })

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

  queries.getQueryCache().subscribe(({ type, query }) => {
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

  /** Starts to follow the stream. Returns the function that stops. */
  function follow(): () => void {
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
      close()
      document.removeEventListener('visibilitychange', wake)
    }
  }

  return { follow, store }
}

export const FreshnessContext = createContext<ReturnType<typeof createFreshness> | null>(null)

export function useFreshness(): Freshness {
  const freshness = useContext(FreshnessContext)
  if (freshness === null) throw new Error('no FreshnessContext')
  return useStore(freshness.store)
}
