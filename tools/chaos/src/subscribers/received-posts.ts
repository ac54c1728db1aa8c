import type { Post } from './observation.ts'

/** Every POST of a run, in the order of arrival. */
export interface Notebook {
  readonly posts: readonly Post[]
  note(post: Post): void
  /** Resolves when the endpoint gets an event of our own that occurred from now on. */
  newEventArrives(endpoint: string): Promise<void>
  /** Resolves to true when the endpoint has been told of this call, or to false after a while. */
  callArrives(endpoint: string, call: { readonly callId: string; readonly agentUri: string }): Promise<boolean>
}

const CALL_WITHIN_MS = 10_000
/** POSTs that can arrive while a request is answered, and many more. */
const RECENT = 5_000

export function openNotebook(): Notebook {
  const posts: Post[] = []
  const waiters = new Set<(post: Post) => void>()

  function next(fits: (post: Post) => boolean, withinMs?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isThere: boolean): void => {
        waiters.delete(waiter)
        clearTimeout(timer)
        resolve(isThere)
      }
      const waiter = (post: Post): void => {
        if (fits(post)) end(true)
      }
      const timer = withinMs === undefined ? undefined : setTimeout(() => end(false), withinMs)
      waiters.add(waiter)
    })
  }

  return {
    posts,
    note: (post) => {
      posts.push(post)
      for (const waiter of waiters) waiter(post)
    },
    newEventArrives: async (endpoint) => {
      const sinceMs = Date.now()
      await next((post) => post.told.kind === 'own' && post.endpoint === endpoint && post.occurredAtMs >= sinceMs)
    },
    callArrives: async (endpoint, { callId, agentUri }) => {
      const fits = ({ told, endpoint: at }: Post): boolean =>
        at === endpoint && told.kind === 'leg' && told.callId === callId && told.agentUri === agentUri
      // Often the webhook is faster than the answer.
      return posts.slice(-RECENT).some(fits) || next(fits, CALL_WITHIN_MS)
    },
  }
}
