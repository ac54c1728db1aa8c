import type { AcceptedCall, Post } from '../reconcile/observation.ts'
import { HEALTHY_ENDPOINT } from './behaviour.ts'

export type ReceivedPosts = ReturnType<typeof openReceivedPosts>

const CALL_WITHIN_MS = 10_000
/** Far more POSTs than can arrive during one request. */
const RECENT = 5_000

/** Every POST of a run, in the order of arrival. */
export function openReceivedPosts() {
  const posts: Post[] = []
  const waiters = new Set<(post: Post) => void>()
  const arrived = new Set<string>()

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
    posts: posts as readonly Post[],
    note: (post: Post): void => {
      posts.push(post)
      if (post.endpoint === HEALTHY_ENDPOINT) arrived.add(post.eventId)
      for (const waiter of waiters) waiter(post)
    },
    /** Whether the healthy endpoint has the event. */
    hasArrived: (eventId: string): boolean => arrived.has(eventId),
    /** Resolves when the endpoint gets an event of the other platform that occurred after this call. */
    newEventArrives: async (endpoint = HEALTHY_ENDPOINT): Promise<void> => {
      const sinceMs = Date.now()
      await next(
        (post) => post.content.kind === 'platform' && post.endpoint === endpoint && post.occurredAtMs >= sinceMs,
      )
    },
    /** Resolves to true when the healthy endpoint gets an event of this call, or to false after `CALL_WITHIN_MS`. */
    callArrives: async ({ callId, agentUri }: Pick<AcceptedCall, 'callId' | 'agentUri'>): Promise<boolean> => {
      const fits = ({ content, endpoint }: Post): boolean =>
        endpoint === HEALTHY_ENDPOINT &&
        content.kind === 'leg' &&
        content.callId === callId &&
        content.agentUri === agentUri
      // The webhook often arrives before the answer.
      return posts.slice(-RECENT).some(fits) || next(fits, CALL_WITHIN_MS)
    },
    /** Resolves to true when a notice tells that a delivery of this subscription was parked after this call. */
    parkedNoticeArrives: (subscriptionId: string, withinMs: number): Promise<boolean> => {
      const sinceMs = Date.now()
      return next(
        ({ content, occurredAtMs }) =>
          content.kind === 'parked' && content.subscriptionId === subscriptionId && occurredAtMs >= sinceMs,
        withinMs,
      )
    },
  }
}
