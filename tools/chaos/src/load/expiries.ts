import type { Schemas } from '@switchhook/client'
import { startPoll } from '@switchhook/runtime'
import { type Endpoint, type Expired, isAcknowledgement, type Post } from '../reconcile/observation.ts'
import type { Client } from './client.ts'

export const EVENTS = '/api/v1/webhooks/events'

const LOOK_EVERY_MS = 5_000
/** Most retries have ended by then. */
const SETTLED_AFTER_MS = 45_000
/** Events are looked at from this share of their age limit on, too: one that has expired before is a fault. */
const YOUNG_FROM = 0.5

/**
 * Asks the api about the events that an endpoint whose deliveries expire has not acknowledged.
 * @param posts of all endpoints, in the order of arrival; it grows
 */
export function startExpiries(client: Client, posts: readonly Post[], endpoints: readonly Endpoint[]) {
  const expired: Expired[] = []
  const followed = endpoints.flatMap((endpoint) => (endpoint.expireAfterSeconds === undefined ? [] : follow(endpoint)))

  /** Looks at the events of one endpoint that are at least this old, or not old enough to expire. */
  function follow({ name, subscriptionId, expireAfterSeconds = 0 }: Endpoint): (leastAgeMs: number) => Promise<void> {
    const expiresAfterMs = expireAfterSeconds * 1_000
    const seen = new Set<string>()
    /** When each event occurred, by its id. */
    const open = new Map<string, number>()
    let unanswered: Post[] = []
    let read = 0
    return async (leastAgeMs) => {
      for (const post of posts.slice(read)) {
        if (!seen.has(post.eventId)) open.set(post.eventId, post.occurredAtMs)
        seen.add(post.eventId)
        if (post.endpoint === name) unanswered.push(post)
      }
      read = posts.length
      for (const { eventId } of unanswered.filter(isAcknowledgement)) open.delete(eventId)
      unanswered = unanswered.filter((post) => post.status === null && open.has(post.eventId))
      for (const [eventId, occurredAtMs] of open) {
        const ageMs = Date.now() - occurredAtMs
        if (ageMs < (ageMs < expiresAfterMs ? expiresAfterMs * YOUNG_FROM : leastAgeMs)) continue
        const { body } = await client.insist('GET', `${EVENTS}/${eventId}`)
        const explained = (body['subscriptions'] ?? []) as readonly Schemas['Explanation'][]
        if (explained.find((each) => each.subscriptionId === subscriptionId)?.verdict !== 'expired') continue
        open.delete(eventId)
        expired.push({ endpoint: name, eventId, occurredAtMs, byMs: Date.now() })
      }
    }
  }

  const look = async (leastAgeMs: number): Promise<void> => {
    await Promise.all(followed.map((lookAt) => lookAt(leastAgeMs)))
  }
  // What the api does not answer is asked again.
  const polling = startPoll(LOOK_EVERY_MS, () => look(SETTLED_AFTER_MS).catch(() => {}))

  return {
    /** The deliveries that have ended as `expired`, each with the verdict that explains it. Ends the polling. */
    look: async (): Promise<readonly Expired[]> => {
      await polling.stop()
      await look(0)
      return expired
    },
    stop: polling.stop,
  }
}
