import type { Post } from './observation.ts'

/** Every POST of a run, in the order of arrival. */
export interface Notebook {
  readonly posts: readonly Post[]
  note(post: Post): void
  /** Resolves when the endpoint gets an event of our own that occurred from now on. */
  newEventArrives(endpoint: string): Promise<void>
}

interface Waiter {
  readonly endpoint: string
  readonly sinceMs: number
  readonly wake: () => void
}

export function openNotebook(): Notebook {
  const posts: Post[] = []
  const waiters = new Set<Waiter>()
  return {
    posts,
    note: (post) => {
      posts.push(post)
      for (const waiter of waiters) {
        const { endpoint, sinceMs, wake } = waiter
        if (post.told.kind !== 'own' || post.endpoint !== endpoint || post.occurredAtMs < sinceMs) continue
        waiters.delete(waiter)
        wake()
      }
    },
    newEventArrives: (endpoint) =>
      new Promise((wake) => {
        waiters.add({ endpoint, sinceMs: Date.now(), wake })
      }),
  }
}
