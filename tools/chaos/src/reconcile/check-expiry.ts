import { type Content, type Endpoint, isNotice, type Observation, type Post } from './observation.ts'
import type { Problem } from './problem.ts'

/** An attempt may wait for its turn and take its deadline after its age was checked. */
const LATE_MS = 5_000

/** Notices and the end of a call never expire. */
const mayExpire = (content: Content): boolean => !isNotice(content) && !(content.kind === 'leg' && content.state === 7)

/**
 * Finds attempts that were made although the event had expired, and deliveries that had expired before their events were old
 * enough. The clocks of the services may be wrong meanwhile: that of Redis decides.
 */
export function checkExpiry({ endpoints, posts, expired }: Observation): Problem[] {
  const limits = new Map(endpoints.map(({ name, expireAfterSeconds: seconds }) => [name, seconds && seconds * 1_000]))
  const late = posts.flatMap(({ endpoint, content, deliveryId, attempt, beganAtMs, occurredAtMs }): Problem[] => {
    const limitMs = limits.get(endpoint)
    if (limitMs === undefined || !mayExpire(content)) return []
    const ageMs = Math.round(beganAtMs - occurredAtMs)
    if (ageMs <= limitMs + LATE_MS) return []
    const what = `${deliveryId} at ${endpoint}, attempt ${attempt}, ${ageMs} ms old`
    return [{ kind: 'sent after its expiry', what }]
  })
  const early = expired.flatMap(({ endpoint, eventId, occurredAtMs, byMs }): Problem[] => {
    const ageMs = byMs - occurredAtMs
    if (ageMs >= (limits.get(endpoint) ?? 0)) return []
    return [{ kind: 'expired too early', what: `${eventId} at ${endpoint}, at most ${ageMs} ms old` }]
  })
  return [...late, ...early]
}

/** Whether the api explains that the delivery of this event has expired, and it may. */
export function isExpired(
  { expired }: Observation,
  { name, expireAfterSeconds }: Endpoint,
  sample: Post | undefined,
): boolean {
  if (expireAfterSeconds === undefined || sample === undefined || !mayExpire(sample.content)) return false
  return expired.some(({ endpoint, eventId }) => endpoint === name && eventId === sample.eventId)
}
