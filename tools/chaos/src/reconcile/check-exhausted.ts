import { DOWN_FOR_LONG } from '../subscribers/behaviour.ts'
import { isRolledBack, type Observation } from './observation.ts'

/** The sum of the waits of `DELIVERY_RETRY_WAITS` in `main.ts`. A shorter outage exhausts no delivery. */
export const SCHEDULE_MS = 32_000

/** Whether deliveries to this endpoint may be parked as `exhausted`: it was down for a whole schedule. */
export const mayExhaust = ({ outages }: Observation, name: string | undefined): boolean =>
  outages.some(({ endpoint, fromMs, toMs }) => endpoint === name && toMs - fromMs >= SCHEDULE_MS)

/**
 * Counts the deliveries that were parked as `exhausted` and whose parked records a rollback of Redis then lost. Their
 * notices were published in the lost time. No recovery can send them again.
 */
export function exhaustedAndForgotten({ endpoints, posts, lapses }: Observation): number {
  const dead = endpoints.find(({ name }) => name === DOWN_FOR_LONG)?.subscriptionId
  const ids = posts.flatMap(({ content, occurredAtMs }) =>
    content.kind === 'parked' && content.subscriptionId === dead && isRolledBack(lapses, occurredAtMs)
      ? content.deliveryId
      : [],
  )
  return new Set(ids).size
}
