import { EVENT_TYPES, type EventType } from '../events/event.ts'
import type { SubscriptionId, Tenant } from '../ids.ts'
import type { SubscriptionFilter } from './filter/filter.ts'
import type { Signing } from './signing.ts'

/** What a subscription can ask for. `*`: all event types, those of later versions included. */
export type SubscribedType = EventType | typeof ALL_TYPES

export const ALL_TYPES = '*'

/** A subscription as stored (specification, "Webhook subscription"). */
export interface Subscription {
  readonly id: SubscriptionId
  /** null: the installation itself. Not shown to clients. */
  readonly tenant: Tenant
  readonly url: string
  readonly eventTypes: readonly SubscribedType[]
  readonly description: string | null
  /** The client's own name for it, unique in the tenant. */
  readonly externalId?: string | undefined
  /** Absent: it receives every event of its types. */
  readonly filter?: SubscriptionFilter | undefined
  /** Deliveries of older events are not sent (`isExpired`). Absent: events of any age are. */
  readonly expireAfterSeconds?: number | undefined
  /** `pull`: clients receive its deliveries, and `url` is ''. Absent: they are POSTed. */
  readonly mode?: 'pull' | undefined
  /** Its deliveries are held until this is removed. */
  readonly paused?: true | undefined
  /** ISO 8601, UTC: its deliveries are held until then. */
  readonly pausedUntil?: string | undefined
  /** Rejected deliveries are sent again after the endpoint's next 2xx. Not with `mode: 'pull'`. */
  readonly recoverRejected?: true | undefined
  /** How many POSTs may be in flight at a time, over all workers. Absent: any number. Not with `mode: 'pull'`. */
  readonly maxInFlight?: number | undefined
  /** How many POSTs may begin in any second, over all workers. Absent: any number. Not with `mode: 'pull'`. */
  readonly maxPerSecond?: number | undefined
  /** Headers for every POST: names in lower case, values sealed. Clients see the names only. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** It is deleted when no client has received its deliveries for so long. Only with `mode: 'pull'`. */
  readonly deleteAfterUnusedSeconds?: number | undefined
  readonly enabled: boolean
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** Not shown to clients. Absent: its deliveries are not signed. */
  readonly signing?: Signing
}

/** As stored: without repetitions, and `*` alone. */
export const distinctTypes = (asked: readonly SubscribedType[]): SubscribedType[] =>
  asked.includes(ALL_TYPES) ? [ALL_TYPES] : [...new Set(asked)]

/** The event types that a list stands for, in the order of `EVENT_TYPES`. */
export const coveredTypes = (wanted: readonly SubscribedType[]): EventType[] =>
  EVENT_TYPES.filter((type) => wanted.includes(type) || wanted.includes(ALL_TYPES))

/** Whether an event of this type and of the subscription's tenant causes a delivery. */
export const receives = (
  { enabled, eventTypes }: Pick<Subscription, 'enabled' | 'eventTypes'>,
  eventType: string,
): boolean => enabled && eventTypes.some((type) => type === eventType || type === ALL_TYPES)

export const isPaused = (
  { paused, pausedUntil }: Pick<Subscription, 'paused' | 'pausedUntil'>,
  nowMs: number,
): boolean => paused === true || (pausedUntil !== undefined && Date.parse(pausedUntil) > nowMs)

/** Whether due deliveries are held instead of being POSTed. */
export const holdsDeliveries = (subscription: Subscription, nowMs: number): boolean =>
  subscription.mode === 'pull' || isPaused(subscription, nowMs)

/** Whether its POSTs need permits. */
export const hasLimits = ({ maxInFlight, maxPerSecond }: Pick<Subscription, 'maxInFlight' | 'maxPerSecond'>): boolean =>
  maxInFlight !== undefined || maxPerSecond !== undefined
