import { DEAD_FOR_LONG } from './behaviour.ts'
import { isRolledBack } from './lapses.ts'
import type { Observation } from './observation.ts'

/** The waits of the schedule that a run uses (`settings.ts`), added up: an endpoint that is away for less exhausts nothing. */
export const SCHEDULE_MS = 32_000

/** Whether deliveries to this subscription may be parked as `exhausted`: its endpoint was away for a whole schedule. */
export function mayExhaust({ endpoints, absences }: Observation, subscriptionId: string): boolean {
  const name = endpoints.find((endpoint) => endpoint.subscriptionId === subscriptionId)?.name
  return absences.some(({ endpoint, fromMs, toMs }) => endpoint === name && toMs - fromMs >= SCHEDULE_MS)
}

/**
 * How many deliveries were parked as `exhausted` and then forgotten by Redis: their notices were published while the writes of that
 * time were lost. Nobody can send them again.
 */
export function exhaustedAndForgotten({ endpoints, posts, lapses }: Observation): number {
  const dead = endpoints.find(({ name }) => name === DEAD_FOR_LONG)?.subscriptionId
  const ids = posts.flatMap(({ told, occurredAtMs }) =>
    told.kind === 'parked' && told.subscriptionId === dead && isRolledBack(lapses, occurredAtMs) ? told.deliveryId : [],
  )
  return new Set(ids).size
}
