import { hash, randomUUID } from 'node:crypto'

declare const brand: unique symbol

/** A GUID in canonical lower case that is known to name one kind of thing. */
export type Guid<Kind extends string> = string & { readonly [brand]: Kind }

export type EventId = Guid<'event id'>
export type DeliveryId = Guid<'delivery id'>
export type SubscriptionId = Guid<'subscription id'>
export type CallId = Guid<'call id'>
export type CommandId = Guid<'command id'>
export type RecoveryId = Guid<'recovery id'>

/** The customer to whom something belongs; null: the installation itself. Tenants never see each other's data. */
export type Tenant = string | null

/** Any RFC 9562 layout, upper or lower case; `parse…` returns lower case. */
const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isGuid = (value: unknown): value is string => typeof value === 'string' && GUID.test(value)

const parser =
  <Kind extends string>(kind: Kind) =>
  (value: string): Guid<Kind> => {
    if (!isGuid(value)) throw new TypeError(`not a ${kind}`)
    return value.toLowerCase() as Guid<Kind>
  }

/** Each parser throws a TypeError that names the kind, never the value. */
export const parseEventId = parser('event id')
export const parseDeliveryId = parser('delivery id')
export const parseSubscriptionId = parser('subscription id')
export const parseCallId = parser('call id')
export const parseCommandId = parser('command id')
export const parseRecoveryId = parser('recovery id')

/** Random: a Redis restored to an older state counts the same sequence again, for another event (ADR 0034). */
export const newEventId = (): EventId => randomUUID() as EventId
/** Of a message that continues a delivery. Eight hex digits: it only differs from those of the duplicates. */
export const newToken = (): string => randomUUID().slice(0, 8)
export const newSubscriptionId = (): SubscriptionId => randomUUID() as SubscriptionId
export const newCallId = (): CallId => randomUUID() as CallId
export const newCommandId = (): CommandId => randomUUID() as CommandId

/**
 * The id of the delivery of one event to one subscription: a UUIDv8 (RFC 9562, section 5.8). Its first 60 bits are a hash of the
 * event's id, by which the event of a delivery is found, the other 62 a hash of both ids. Repeating a fan-out gives the same ids.
 */
export const deliveryIdOf = (event: EventId, subscription: SubscriptionId): DeliveryId =>
  deliveryIdsOf(event)(subscription)

/** The ids of the deliveries of one event, at one hash each. */
export function deliveryIdsOf(event: EventId): (subscription: SubscriptionId) => DeliveryId {
  const mark = eventMarkOf(event)
  const start = `${mark.slice(0, 8)}-${mark.slice(8, 12)}-8${mark.slice(12)}`
  // The second half of a UUIDv5 of both.
  return (subscription) => `${start}${uuidV5(event, subscription).slice(18)}` as DeliveryId
}

/** The part of an event's id that the ids of its deliveries have, too. Two events of one tenant practically never share it. */
export type EventMark = string & { readonly [brand]: 'event mark' }

export const eventMarkOf = (event: EventId): EventMark => hash('sha1', event).slice(0, 15) as EventMark

/** That of the event of a delivery. */
export const eventMarkIn = (delivery: DeliveryId): EventMark =>
  `${delivery.slice(0, 8)}${delivery.slice(9, 13)}${delivery.slice(15, 18)}` as EventMark

/**
 * The id of a notice about a subscription, by its time: publishing it twice is one event. An outage can end twice: if
 * Redis loses the end, or fails before it is stored.
 */
export const noticeEventIdOf = (
  subscription: SubscriptionId,
  notice: `webhook.${'endpoint.failing' | 'endpoint.recovered' | 'parked.limit' | 'held.limit'}`,
  atMs: number,
): EventId => uuidV5(subscription, `${notice} ${atMs}`) as EventId

/** The id of the notice that a run of a delivery ended parked. */
export const parkedEventIdOf = (delivery: DeliveryId, run: number): EventId =>
  uuidV5(delivery, `webhook.delivery.parked ${run}`) as EventId

/** UUIDv5 of a name in a namespace that is itself a GUID. One call of the hash costs half as much as a Hash object. */
export function uuidV5(namespace: string, name: string): string {
  const hashed = Buffer.allocUnsafe(NAMESPACE_BYTES + Buffer.byteLength(name))
  hashed.write(namespace.replaceAll('-', ''), 'hex')
  hashed.write(name, NAMESPACE_BYTES)
  const hex = hash('sha1', hashed, 'hex')
  const variant = VARIANTS[Number.parseInt(hex.charAt(16), 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const NAMESPACE_BYTES = 16
/** The first digit of the fourth group: the two high bits are 10. */
const VARIANTS = ['8', '9', 'a', 'b'] as const
