import { type EventId, parseEventId } from './ids.ts'
import { compileSchema } from './validator.ts'

/** The event types that can be subscribed to (specification, "Subscribing and event types"). */
export const EVENT_TYPES = ['call.status', 'agent.status'] as const

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

/** @throws Unparsable with every fault, by JSON pointer. */
export function parseEvent(content: Buffer): PlatformEvent {
  const result = validateEvent(parseJson(content))
  if (!result.ok) throw new Unparsable(result.faults.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; '))
  return { ...result.value, eventId: parseEventId(result.value.eventId) }
}

export function serialiseEvent(event: PlatformEvent): Buffer {
  const { eventId, eventType, occurredAt, tenant, data } = event
  return Buffer.from(JSON.stringify({ eventId, eventType, occurredAt, tenant, data }))
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseJson(content: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(content))
  } catch (error) {
    throw new Unparsable('not JSON in UTF-8', { cause: error })
  }
}
