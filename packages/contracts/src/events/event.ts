import { compileSchema } from '../errors/validator.ts'
import { type EventId, parseEventId } from '../ids.ts'

/**
 * The event types that can be subscribed to (specification, "Subscribing and event types"), and beside them the notices:
 * what the delivery engine itself has to tell (`webhook.…`).
 */
export const EVENT_TYPES = [
  'call.status',
  'agent.status',
  'webhook.endpoint.failing',
  'webhook.endpoint.recovered',
  'webhook.delivery.parked',
  'webhook.parked.limit',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/**
 * What travels on the exchange `switchhook.events`: something that happened in the contact center. The exchange is a
 * public seam (docs/asyncapi.json), so whatever arrives on it is parsed, never cast.
 */
export interface PlatformEvent {
  readonly eventId: EventId
  readonly eventType: EventType
  /** ISO 8601, UTC. */
  readonly occurredAt: string
  /** null: an event of the installation itself. */
  readonly tenant: string | null
  readonly data: Readonly<Record<string, unknown>>
  /** W3C trace context of what brought it about. An AMQP header, no part of the content. */
  readonly traceparent?: string
}

/** JSON Schema 2020-12 of an event on the exchange; unknown members are ignored. */
export const platformEventSchema = {
  type: 'object',
  required: ['eventId', 'eventType', 'occurredAt', 'tenant', 'data'],
  properties: {
    eventId: { type: 'string', format: 'uuid' },
    eventType: { type: 'string', enum: EVENT_TYPES },
    // In UTC and nothing else: it is passed on as it is, and the specification promises UTC.
    occurredAt: { type: 'string', format: 'date-time', pattern: '^\\S+T\\S+Z$' },
    tenant: { type: ['string', 'null'], minLength: 1, maxLength: 128 },
    data: { type: 'object' },
  },
} as const

const validateEvent = compileSchema<PlatformEvent>(platformEventSchema)

/** Thrown for a message that can never be understood, however often it is tried: it belongs in quarantine. */
export class Unparsable extends Error {
  override readonly name = 'Unparsable'
}

/** A larger event would be a larger delivery, once per subscription. */
export const MAX_EVENT_BYTES = 256 * 1024

/** @throws Unparsable with every fault, by JSON pointer. */
export function parseEvent(content: Buffer): PlatformEvent {
  if (content.length > MAX_EVENT_BYTES) throw new Unparsable(`larger than ${MAX_EVENT_BYTES} bytes`)
  const result = validateEvent(parseJson(content))
  if (!result.ok) throw new Unparsable(result.faults.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; '))
  const { eventId, eventType, occurredAt, tenant, data } = result.value
  return { eventId: parseEventId(eventId), eventType, occurredAt, tenant, data }
}

export function serialiseEvent(event: PlatformEvent): Buffer {
  const { eventId, eventType, occurredAt, tenant, data } = event
  return Buffer.from(JSON.stringify({ eventId, eventType, occurredAt, tenant, data }))
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseJson(content: Buffer): unknown {
  try {
    const text = utf8.decode(content)
    return WRITTEN_OTHERWISE.test(text) ? JSON.parse(text, keepAsWritten) : JSON.parse(text)
  } catch (error) {
    throw new Unparsable('not JSON in UTF-8', { cause: error })
  }
}

/** A number that JavaScript might not write as it was written: with a point, an exponent, sixteen digits, or as -0. */
const WRITTEN_OTHERWISE = /(?:"\s*:|[[,])\s*(?:-0|-?\d+(?:[.eE]|\d{15}))/

/**
 * Data is passed on as its platform wrote it: `1.0` stays `1.0`, and an integer beyond 2^53 keeps every digit.
 * https://github.com/tc39/proposal-json-parse-with-source
 */
function keepAsWritten(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  return typeof value === 'number' && source !== undefined && source !== String(value) ? rawJson(source) : value
}

const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (source: string) => unknown }
