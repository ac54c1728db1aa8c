import { isAcknowledgement, type Observation, type Post } from './observation.ts'
import type { Problem } from './problem.ts'

/**
 * Finds first attempts that began to arrive after the answer to a DELETE or a PATCH. A first attempt is the first POST of
 * a delivery and has attempt number 1; a delivery that has failed before keeps its schedule.
 * @param typeOf the event type of a POST
 */
export function checkClosures({ posts, closures }: Observation, typeOf: (post: Post) => string): Problem[] {
  const byEndpoint = Map.groupBy(closures, ({ endpoint }) => endpoint)
  const seen = new Set<string>()
  const problems: Problem[] = []
  for (const post of posts.toSorted((a, b) => a.beganAtMs - b.beganAtMs)) {
    const isFirst = post.attempt === 1 && !seen.has(post.deliveryId)
    seen.add(post.deliveryId)
    if (!isFirst) continue
    for (const { eventTypes, fromMs, toMs } of byEndpoint.get(post.endpoint) ?? []) {
      if (!eventTypes.includes(typeOf(post)) || post.beganAtMs <= fromMs || post.beganAtMs >= toMs) continue
      const what = `${post.deliveryId} at ${post.endpoint}, ${(post.beganAtMs - fromMs).toFixed(1)} ms after it`
      problems.push({ kind: 'first attempt after the answer', what })
    }
  }
  return problems
}

/**
 * Finds retries that were never acknowledged. From attempt 2 on, a delivery keeps its schedule even if its subscription
 * is deleted. The guest answers 503 to the first few attempts only, so each retry must end acknowledged.
 */
export function checkRetries({ posts, guests }: Observation): Problem[] {
  const of = new Set(guests)
  const open = new Map<string, string>()
  for (const { endpoint, deliveryId, attempt } of posts) {
    if (of.has(endpoint) && attempt > 1) open.set(deliveryId, endpoint)
  }
  for (const { deliveryId } of posts.filter(isAcknowledgement)) open.delete(deliveryId)
  return [...open].map(([deliveryId, endpoint]) => ({ kind: 'retry given up', what: `${deliveryId} at ${endpoint}` }))
}
