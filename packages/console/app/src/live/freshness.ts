import type { QueryClient } from '@tanstack/react-query'
import { isAway as isAwayFor } from '../api/client.ts'
import { isLongList } from '../api/queries.ts'
import { paced } from './paced.ts'
import { openStream, type StreamState } from './stream.ts'

/** Whether the screen is up to date. */
export interface Freshness {
  /** `live`: changes arrive immediately. `polling`: every few seconds. `away`: the API does not answer. */
  readonly state: 'connecting' | 'live' | 'polling' | 'away'
  /** When the API last answered, in ms since 1970. */
  readonly answeredAtMs: number
}

/**
 * Keeps the screen true: refreshes what a message of the stream makes old, and everything after a gap, after sleep, and when
 * the API is back.
 */
export function createFreshness(queries: QueryClient) {
  let stream: StreamState = 'connecting'
  let isAway = false
  let answeredAtMs = Date.now()
  let current: Freshness = { state: 'connecting', answeredAtMs }
  const listeners = new Set<() => void>()

  function publish(): void {
    const state = isAway || stream === 'away' ? 'away' : stream === 'unavailable' ? 'polling' : stream
    if (state === current.state && (state !== 'away' || answeredAtMs === current.answeredAtMs)) return
    current = { state, answeredAtMs }
    for (const listener of listeners) listener()
  }

  const refreshAll = (): void => void queries.invalidateQueries()
  const wake = (): void => {
    if (!document.hidden) refreshAll()
  }
  const refreshers = new Map<string, () => void>()
  function refresh(group: 'delivery' | 'voice'): void {
    const known = refreshers.get(group)
    const run =
      known ??
      paced(() => queries.invalidateQueries({ queryKey: [group], predicate: ({ state }) => !isLongList(state.data) }))
    refreshers.set(group, run)
    run()
  }

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
        refresh('delivery')
        if (message.type === 'event' && /^(call|agent)\./.test(message.event.eventType)) refresh('voice')
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

  return {
    follow,
    subscribe: (listener: () => void): (() => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    get: (): Freshness => current,
  }
}
