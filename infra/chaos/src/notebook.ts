import type { Post } from './observation.ts'

/** Every POST of a run, in the order of arrival. */
export interface Notebook {
  readonly posts: readonly Post[]
  note(post: Post): void
  /** Resolves when the endpoint has got this event of our own. */
  arrives(endpoint: string, eventId: string): Promise<void>
}

export function openNotebook(): Notebook {
  const posts: Post[] = []
  const awaited = new Map<string, () => void>()
  return {
    posts,
    note: (post) => {
      posts.push(post)
      if (post.told.kind === 'own') awaited.get(`${post.endpoint} ${post.told.eventId}`)?.()
    },
    arrives: (endpoint, eventId) => {
      const key = `${endpoint} ${eventId}`
      const isThere = posts.some(
        (post) => post.endpoint === endpoint && post.told.kind === 'own' && post.told.eventId === eventId,
      )
      if (isThere) return Promise.resolve()
      return new Promise((resolve) => {
        awaited.set(key, () => {
          awaited.delete(key)
          resolve()
        })
      })
    },
  }
}
