import { compileSchema } from '../errors/validator.ts'
import { Unparsable } from '../events/event.ts'
import {
  type DeliveryId,
  type EventId,
  parseDeliveryId,
  parseEventId,
  parseSubscriptionId,
  type SubscriptionId,
} from '../ids.ts'
import type { InstallationId } from '../installation.ts'
import { type Signing, signingSchema } from '../subscriptions/signing.ts'
import { readTraceparent } from '../trace-context.ts'
import { readTrial, type Trial } from './trial.ts'

/** How long the last slot of a delivery has been put off because its endpoint was in a cool-down. */
export interface Postponement {
  /** The waits of these postponements, added up. Broker queues measure them, so no clock is compared with another one. */
  readonly waitedMs: number
  /**
   * The end of the cool-down that caused the first of them, in ms since 1970 by the clock of Redis. Every failure that
   * begins a cool-down moves it, so a different value proves that the endpoint has failed again since.
   */
  readonly openUntilMs: number
}

/** One event on its way to one subscription. The AMQP content is `body`, byte for byte; the rest travels in headers. */
export interface Delivery {
  readonly deliveryId: DeliveryId
  readonly subscriptionId: SubscriptionId
  readonly eventId: EventId
  /** Any type that fits into a header: an event's type is judged before its deliveries are made. */
  readonly eventType: string
  readonly tenant: string | null
  readonly url: string
  /** 1 for the schedule that the event started; each sending again of a parked delivery starts the next run. */
  readonly run: number
  /** Place in the schedule: 0 is at once, k comes after the kth wait. */
  readonly slot: number
  /** POSTs made so far, over all runs. */
  readonly attempt: number
  /** How often its last slot has been put off, for whatever reason; absent: never. It decides the length of the next wait. */
  readonly postponed?: number
  /** Absent: the last slot was never put off for a cool-down, or a worker of an earlier version has put it off. */
  readonly postponement?: Postponement
  /** ISO 8601, UTC: when the first attempt of this run fell due. */
  readonly firstDueAt: string
  /** W3C trace context of the command or event behind the delivery. */
  readonly traceparent?: string
  /**
   * What its subscription signed with when it was last sent: a retry outlives its subscription. While that is there, what it
   * says now counts. Absent: never signed, or not sent yet.
   */
  readonly signing?: Signing
  /** Absent: of an event that has happened. */
  readonly trial?: Trial
  readonly body: Buffer
}

/** AMQP headers of a delivery message. Rolling upgrades meet messages that are hours old: additions must be optional. */
export interface DeliveryHeaders {
  readonly 'sh-version': 1 | 2
  readonly 'sh-delivery-id': string
  readonly 'sh-subscription-id': string
  readonly 'sh-event-id': string
  readonly 'sh-event-type': string
  /** Absent: the installation itself. */
  readonly 'sh-tenant'?: string
  readonly 'sh-url': string
  readonly 'sh-run': number
  readonly 'sh-slot': number
  readonly 'sh-attempt': number
  readonly 'sh-postponed'?: number
  readonly 'sh-postponement'?: Postponement
  readonly 'sh-first-due-at': string
  readonly traceparent?: string
  readonly 'sh-signing'?: Signing
  readonly 'sh-trial'?: Trial
  /** The installation that published the message; each publish sets it anew, so a Delivery does not carry it. */
  readonly 'sh-installation'?: string
}

const count = { type: 'integer', minimum: 0 }

const postponementSchema = {
  type: 'object',
  required: ['waitedMs', 'openUntilMs'],
  properties: { waitedMs: count, openUntilMs: count },
}

/** JSON Schema 2020-12 of the headers; other headers (the broker's `x-death` among them) are ignored and not copied on. */
export const deliveryHeadersSchema = {
  type: 'object',
  required: [
    'sh-version',
    'sh-delivery-id',
    'sh-subscription-id',
    'sh-event-id',
    'sh-event-type',
    'sh-url',
    'sh-run',
    'sh-slot',
    'sh-attempt',
    'sh-first-due-at',
  ],
  properties: {
    // A version that only adds is understood: during a rolling deploy a newer fan-out may be there before a newer worker.
    'sh-version': { type: 'integer', minimum: 1, maximum: 2 },
    'sh-delivery-id': { type: 'string', format: 'uuid' },
    'sh-subscription-id': { type: 'string', format: 'uuid' },
    'sh-event-id': { type: 'string', format: 'uuid' },
    'sh-event-type': { type: 'string', pattern: '^[\\x21-\\x7e]{1,128}$' },
    'sh-tenant': { type: 'string' },
    'sh-url': { type: 'string' },
    'sh-run': { type: 'integer', minimum: 1 },
    'sh-slot': count,
    'sh-attempt': count,
    'sh-postponed': count,
    'sh-postponement': postponementSchema,
    'sh-first-due-at': { type: 'string' },
    // Of any type: one that cannot be read is ignored, and no reason to keep a delivery from its subscriber.
    traceparent: {},
    'sh-trial': {},
    'sh-signing': signingSchema,
    'sh-installation': { type: 'string', format: 'uuid' },
  },
} as const

const validateHeaders = compileSchema<DeliveryHeaders>(deliveryHeadersSchema)

export function deliveryHeaders(delivery: Delivery, installation?: InstallationId): DeliveryHeaders {
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
    ...(delivery.postponement !== undefined && { 'sh-postponement': delivery.postponement }),
    'sh-first-due-at': delivery.firstDueAt,
    ...(delivery.traceparent !== undefined && { traceparent: delivery.traceparent }),
    ...(delivery.signing !== undefined && { 'sh-signing': delivery.signing }),
    ...(delivery.trial !== undefined && { 'sh-trial': delivery.trial }),
    ...(installation !== undefined && { 'sh-installation': installation }),
  }
}

/** The only way from a message to a Delivery. @throws Unparsable with every fault of the headers. */
export function parseDelivery(content: Buffer, headers: unknown): Delivery {
  const result = validateHeaders(headers)
  if (!result.ok) throw new Unparsable(result.faults.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; '))
  const h = result.value
  const traceparent = readTraceparent(h.traceparent)
  const trial = readTrial(h['sh-trial'])
  const postponement = h['sh-postponement']
  return {
    deliveryId: parseDeliveryId(h['sh-delivery-id']),
    subscriptionId: parseSubscriptionId(h['sh-subscription-id']),
    eventId: parseEventId(h['sh-event-id']),
    eventType: h['sh-event-type'],
    tenant: h['sh-tenant'] ?? null,
    url: h['sh-url'],
    run: h['sh-run'],
    slot: h['sh-slot'],
    attempt: h['sh-attempt'],
    ...(h['sh-postponed'] !== undefined && { postponed: h['sh-postponed'] }),
    ...(postponement !== undefined && { postponement }),
    firstDueAt: h['sh-first-due-at'],
    ...(traceparent !== undefined && { traceparent }),
    ...(h['sh-signing'] !== undefined && { signing: h['sh-signing'] }),
    ...(trial !== undefined && { trial }),
    body: content,
  }
}
