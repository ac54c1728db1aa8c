import type { EventType } from '../events/event.ts'
import type { SubscriptionId } from '../ids.ts'
import type { Tenant } from '../tenant.ts'
import type { Signing } from './signing.ts'

/** A subscription as stored (specification, "Webhook subscription"). */
export interface Subscription {
  readonly id: SubscriptionId
  /** null: the installation itself. Not shown to clients. */
  readonly tenant: Tenant
  readonly url: string
  readonly eventTypes: readonly EventType[]
  readonly description: string | null
  /** The client's own name for it, unique in the tenant. */
  readonly externalId?: string | undefined
  /** Only enabled subscriptions receive deliveries. */
  readonly enabled: boolean
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** Not shown to clients. Absent: its deliveries are not signed. */
  readonly signing?: Signing
}

/** Whether an event of this type and of the subscription's tenant causes a delivery. */
export function receives(
  { enabled, eventTypes }: Pick<Subscription, 'enabled' | 'eventTypes'>,
  eventType: string,
): boolean {
  return enabled && eventTypes.some((type) => type === eventType)
}
