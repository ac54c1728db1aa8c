import { groupBy } from './group-by.ts'
import type { Observation, Post } from './observation.ts'
import type { Problem } from './reconcile.ts'

/**
 * First attempts that began to arrive after a DELETE or a PATCH had been answered. A first attempt is the first POST of a delivery, and
 * says that it is attempt 1: a delivery that has failed before keeps its schedule.
 * @param typeOf the event type of a POST
 */
export function checkClosures({ posts, closures }: Observation, typeOf: (post: Post) => string): Problem[] {
  const byEndpoint = groupBy(closures, ({ endpoint }) => endpoint)
  const seen = new Set<string>()
  const problems: Problem[] = []
  for (const post of posts.toSorted((a, b) => a.beganAtMs - b.beganAtMs)) {
    const isFirst = post.attempt === 1 && !seen.has(post.deliveryId)
    seen.add(post.deliveryId)
    if (!isFirst) continue
    for (const { eventTypes, fromMs, toMs } of byEndpoint.get(post.endpoint) ?? []) {
      if (!eventTypes.includes(typeOf(post)) || post.beganAtMs <= fromMs || post.beganAtMs >= toMs) continue
      const lateMs = (post.beganAtMs - fromMs).toFixed(1)
      problems.push({
        kind: 'first attempt after the answer',
        what: `${post.deliveryId} at ${post.endpoint}, ${lateMs} ms after it`,
      })
    }
  }
  return problems
}

/**
 * Retries that never ended. From attempt 2 on a delivery keeps its schedule whatever becomes of its subscription, so it is
 * acknowledged in the end: a guest answers 503 to the first few attempts at most.
 */
export function checkRetries({ posts, guests }: Observation): Problem[] {
  const of = new Set(guests)
  const open = new Map<string, string>()
  for (const { endpoint, deliveryId, attempt } of posts) {
    if (of.has(endpoint) && attempt > 1) open.set(deliveryId, endpoint)
  }
  for (const { deliveryId, status } of posts) {
    if (status !== null && status >= 200 && status < 300) open.delete(deliveryId)
  }
  return [...open].map(([deliveryId, endpoint]) => ({ kind: 'retry given up', what: `${deliveryId} at ${endpoint}` }))
}
