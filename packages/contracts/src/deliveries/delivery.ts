import { compileSchema } from '../errors/validator.ts'
import { envelopesOf, type PlatformEvent, parsed } from '../events/event.ts'
import type { Attempt } from '../events/outcome.ts'
import { type DeliveryId, deliveryIdsOf, type EventId, type SubscriptionId, type Tenant } from '../ids.ts'
import { type Signing, signingSchema } from '../subscriptions/signing.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { readTraceparent } from '../trace-context.ts'
import { readTrial, type Trial } from './trial.ts'

/** One event for one subscription. The AMQP content is `body`, byte for byte; the other fields are AMQP headers. */
export interface Delivery {
  readonly deliveryId: DeliveryId
  readonly subscriptionId: SubscriptionId
  readonly eventId: EventId
  /** Any type that fits into a header: the event was validated before its deliveries were created. */
  readonly eventType: string
  readonly tenant: Tenant
  readonly url: string
  /** 1 for the first pass through the schedule; each redelivery of a parked delivery starts the next run. */
  readonly run: number
  /**
   * Position in the schedule: 0 is immediate, k follows the kth wait. Beyond the last wait: the secret could not be decrypted,
   * or the schedule was shortened.
   */
  readonly slot: number
  /** Attempts before this message, over all runs: a POST of it has the next number. */
  readonly attempt: number
  /**
   * How often this slot has been postponed: the last one for a cool-down, any slot for another worker's probe; absent: never.
   * Determines the next wait, and the end.
   */
  readonly postponed?: number
  /**
   * Tells the duplicates of a retry apart: drawn anew for every message that continues a delivery, and named by the ledger: once
   * the broker has confirmed the message, or together with the held message. Absent: the first message of a run.
   */
  readonly token?: string
  /** ISO 8601, UTC: when the first attempt of this run was due. */
  readonly firstDueAt: string
  /** W3C trace context of the command or event behind the delivery. */
  readonly traceparent?: string
  /**
   * Secrets of the subscription at the previous attempt, for a retry that outlives its subscription. While the
   * subscription exists, its current secrets are used. Absent: not signed, or not attempted yet.
   */
  readonly signing?: Signing
  /** Headers of the subscription, sealed, as at the previous attempt: for a retry that outlives it or its url. */
  readonly headers?: Subscription['headers']
  /** Present only on test deliveries and receiver checks. */
  readonly trial?: Trial
  /** The tenant asked for this delivery: its subscription need not receive the event type. */
  readonly isRequested?: true
  /** An automatic recovery sends it again: its event can still expire. */
  readonly isAutomatic?: true
  /** The filter of its subscription leaves gaps in `sequence`. Decided before the first attempt, the same for all of them. */
  readonly isSparse?: true
  readonly body: Buffer
}

/**
 * Prepares the first deliveries of one event. The same event always gives the same ids and bodies.
 * @param firstDueAt ISO 8601, UTC
 * @param dataJson the data of the event, serialised
 */
export function firstDeliveriesOf(
  event: Omit<PlatformEvent, 'data'>,
  firstDueAt: string,
  dataJson: string,
): (subscription: Pick<Subscription, 'id' | 'url'>) => Delivery {
  const { eventId, eventType, tenant, traceparent } = event
  const envelope = envelopesOf(event, dataJson)
  const idOf = deliveryIdsOf(eventId)
  return ({ id, url }) => {
    const deliveryId = idOf(id)
    return {
      deliveryId,
      subscriptionId: id,
      eventId,
      eventType,
      tenant,
      url,
      run: 1,
      slot: 0,
      attempt: 0,
      firstDueAt,
      ...(traceparent !== undefined && { traceparent }),
      body: envelope(deliveryId),
    }
  }
}

/** The attempts of a delivery after a slot. @param made null if the slot ended without a POST */
export const attemptsAfter = ({ attempt }: Pick<Delivery, 'attempt'>, made: Attempt | null): number =>
  made?.attempt ?? attempt

/** Tells a message of a delivery from its others. The duplicates of a message that the broker returns have the same. */
export const messageKeyOf = ({ deliveryId, run, slot, token = '' }: Delivery): string =>
  `${deliveryId} ${run} ${slot} ${token}`

const count = { type: 'integer', minimum: 0 }

const required = {
  // One newer version is accepted: during a rolling upgrade a new fan-out can run before a new worker.
  'sh-version': { type: 'integer', minimum: 1, maximum: 2 },
  'sh-delivery-id': { type: 'string', format: 'uuid' },
  'sh-subscription-id': { type: 'string', format: 'uuid' },
  'sh-event-id': { type: 'string', format: 'uuid' },
  'sh-event-type': { type: 'string', pattern: '^[\\x21-\\x7e]{1,128}$' },
  'sh-url': { type: 'string' },
  'sh-run': { type: 'integer', minimum: 1 },
  'sh-slot': count,
  'sh-attempt': count,
  'sh-first-due-at': { type: 'string' },
}

/**
 * JSON Schema 2020-12 of the AMQP headers. Messages can be hours old when a new version reads them: additions are optional.
 * Other headers, such as the broker's `x-death`, are ignored and not copied.
 */
export const deliveryHeadersSchema = {
  type: 'object',
  required: Object.keys(required),
  properties: {
    ...required,
    'sh-tenant': { type: 'string' },
    'sh-postponed': count,
    // It is a part of the ledger (delivery-record.ts), which is not parsed as JSON.
    'sh-token': { type: 'string', pattern: '^[\\w-]{1,16}$' },
    // Any type: an unreadable value is ignored, because it must not prevent a delivery.
    traceparent: {},
    'sh-trial': {},
    'sh-requested': {},
    'sh-automatic': {},
    'sh-sparse': {},
    'sh-signing': signingSchema,
    'sh-headers': { type: 'object', additionalProperties: { type: 'string' } },
    'sh-installation': { type: 'string', format: 'uuid' },
  },
} as const

const validateHeaders = compileSchema<DeliveryHeaders>(deliveryHeadersSchema)

export type DeliveryHeaders = ReturnType<typeof deliveryHeaders>

/** Without the installation that publishes the message, because it is set at each publish. */
export function deliveryHeaders(delivery: Delivery) {
  return {
    'sh-version': 1,
    'sh-delivery-id': delivery.deliveryId,
    'sh-subscription-id': delivery.subscriptionId,
    'sh-event-id': delivery.eventId,
    'sh-event-type': delivery.eventType,
    ...(delivery.tenant !== null && { 'sh-tenant': delivery.tenant }),
    'sh-url': delivery.url,
    'sh-run': delivery.run,
    'sh-slot': delivery.slot,
    'sh-attempt': delivery.attempt,
    ...(delivery.postponed !== undefined && { 'sh-postponed': delivery.postponed }),
    ...(delivery.token !== undefined && { 'sh-token': delivery.token }),
    'sh-first-due-at': delivery.firstDueAt,
    ...(delivery.traceparent !== undefined && { traceparent: delivery.traceparent }),
    ...(delivery.signing !== undefined && { 'sh-signing': delivery.signing }),
    ...(delivery.headers !== undefined && { 'sh-headers': delivery.headers }),
    ...(delivery.trial !== undefined && { 'sh-trial': delivery.trial }),
    ...(delivery.isRequested === true && { 'sh-requested': true }),
    ...(delivery.isAutomatic === true && { 'sh-automatic': true }),
    ...(delivery.isSparse === true && { 'sh-sparse': true }),
  }
}

/** Parses a delivery message. @throws Unparsable with every fault of the headers */
export function parseDelivery(content: Buffer, headers: unknown): Delivery {
  const h = parsed(validateHeaders(headers))
  const traceparent = readTraceparent(h.traceparent)
  const trial = readTrial(h['sh-trial'])
  return {
    // The schema has checked that these are GUIDs.
    deliveryId: h['sh-delivery-id'].toLowerCase() as DeliveryId,
    subscriptionId: h['sh-subscription-id'].toLowerCase() as SubscriptionId,
    eventId: h['sh-event-id'].toLowerCase() as EventId,
    eventType: h['sh-event-type'],
    tenant: h['sh-tenant'] ?? null,
    url: h['sh-url'],
    run: h['sh-run'],
    slot: h['sh-slot'],
    attempt: h['sh-attempt'],
    ...(h['sh-postponed'] !== undefined && { postponed: h['sh-postponed'] }),
    ...(h['sh-token'] !== undefined && { token: h['sh-token'] }),
    firstDueAt: h['sh-first-due-at'],
    ...(traceparent !== undefined && { traceparent }),
    ...(h['sh-signing'] !== undefined && { signing: h['sh-signing'] }),
    ...(h['sh-headers'] !== undefined && { headers: h['sh-headers'] }),
    ...(trial !== undefined && { trial }),
    ...(h['sh-requested'] === true && { isRequested: true }),
    ...(h['sh-automatic'] === true && { isAutomatic: true }),
    ...(h['sh-sparse'] === true && { isSparse: true }),
    body: content,
  }
}
