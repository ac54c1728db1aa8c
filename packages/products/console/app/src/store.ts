import { useSyncExternalStore } from 'react'

/** A value that lives outside of the components; they follow it with `useStore`. */
export function createStore<T>(value: T) {
  const listeners = new Set<() => void>()
  return {
    get: (): T => value,
    set(next: T): void {
      value = next
      for (const listener of listeners) listener()
    },
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export const useStore = <T>({ subscribe, get }: Pick<ReturnType<typeof createStore<T>>, 'subscribe' | 'get'>): T =>
  useSyncExternalStore(subscribe, get)
