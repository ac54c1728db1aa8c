import { createContext, useContext, useSyncExternalStore } from 'react'
import type { createFreshness, Freshness } from './freshness.ts'

export const FreshnessContext = createContext<ReturnType<typeof createFreshness> | null>(null)

export function useFreshness(): Freshness {
  const freshness = useContext(FreshnessContext)
  if (freshness === null) throw new Error('no FreshnessContext')
  return useSyncExternalStore(freshness.subscribe, freshness.get)
}
