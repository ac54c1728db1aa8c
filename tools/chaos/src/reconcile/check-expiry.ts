import { type Content, type Endpoint, isNotice, type Observation, type Post } from './observation.ts'
import type { Problem } from './problem.ts'

/** An attempt may wait for its turn and take its deadline after its age was checked, and the clock of an api may be 2 s off. */
const LATE_MS = 5_000

/** Notices and the end of a call never expire. */
const mayExpire = (content: Content): boolean => !isNotice(content) && !(content.kind === 'leg' && content.state === 7)

/** Finds attempts that were made although the event had expired. A worker whose clock is wrong is wrong by as much. */
export function checkExpiry({ endpoints, posts, wrongClocks }: Observation): Problem[] {
  const limits = new Map(endpoints.map(({ name, expiresAfterMs }) => [name, expiresAfterMs]))
  return posts.flatMap(({ endpoint, content, deliveryId, attempt, atMs, beganAtMs, occurredAtMs }): Problem[] => {
    const limitMs = limits.get(endpoint)
    if (limitMs === undefined || !mayExpire(content)) return []
    const behindMs = wrongClocks
      .filter(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs)
      .map(({ aheadMs }) => Math.max(0, -aheadMs))
    const ageMs = Math.round(beganAtMs - occurredAtMs)
    if (ageMs <= limitMs + LATE_MS + Math.max(0, ...behindMs)) return []
    return [
      { kind: 'sent after its expiry', what: `${deliveryId} at ${endpoint}, attempt ${attempt}, ${ageMs} ms old` },
    ]
  })
}

/** Whether the api explains that the delivery of this event has expired, and it may. */
export function isExpired(
  { expired }: Observation,
  { name, expiresAfterMs }: Endpoint,
  sample: Post | undefined,
): boolean {
  if (expiresAfterMs === undefined || sample === undefined || !mayExpire(sample.content)) return false
  return expired.some(({ endpoint, eventId }) => endpoint === name && eventId === sample.eventId)
}
