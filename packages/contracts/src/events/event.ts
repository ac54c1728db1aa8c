import { compileSchema, objectSchema, type Validation } from '../errors/validator.ts'
import { type DeliveryId, type EventId, parseEventId, type Tenant } from '../ids.ts'

/**
 * The event types that a client can subscribe to (specification, "Subscribing and event types"). `webhook.…` events are
 * notices: the delivery engine publishes them about itself. CONTRIBUTING.md says how to add a type.
 */
export const EVENT_TYPES = [
  'call.status',
  'agent.status',
  'webhook.endpoint.failing',
  'webhook.endpoint.recovered',
  'webhook.delivery.parked',
  'webhook.parked.limit',
  'webhook.held.limit',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** Whether an event is about the delivery engine itself. Deliveries of such events never cause further notices. */
export const isNotice = (eventType: string): boolean => eventType.startsWith('webhook.')

/**
 * An event that fan-out receives. Other platforms publish theirs to the exchange `switchhook.events`, a public
 * interface (docs/asyncapi.json) that carries copies of ours. So every message is parsed, never cast.
 */
export interface PlatformEvent {
  readonly eventId: EventId
  readonly eventType: EventType
  /** ISO 8601, UTC. */
  readonly occurredAt: string
  readonly tenant: Tenant
  readonly data: Readonly<Record<string, unknown>>
  /** W3C trace context of the cause. Sent as an AMQP header, not in the content. */
  readonly traceparent?: string
  /** Of the tenant's subscriptions, after the event was stored. Fan-out that knows it reads nothing. An AMQP header. */
  readonly revision?: string
}

/** JSON Schema 2020-12 of the content of an event's message. Unknown fields are ignored. */
export const platformEventSchema = objectSchema({
  eventId: { type: 'string', format: 'uuid' },
  eventType: { type: 'string', enum: EVENT_TYPES },
  // Must be UTC: the value is passed on unchanged, and the specification promises UTC.
  occurredAt: { type: 'string', format: 'date-time', pattern: '^[^\\sT]+T[^\\sZ]+Z$' },
  tenant: { type: ['string', 'null'], minLength: 1, maxLength: 128 },
  data: { type: 'object' },
})

const validateEvent = compileSchema<PlatformEvent>(platformEventSchema)

/** A message that cannot be parsed. Trying again does not help: it belongs in quarantine. */
export class Unparsable extends Error {
  override readonly name = 'Unparsable'
}

/** @throws Unparsable with every fault and its JSON pointer */
export function parsed<T>(result: Validation<T>): T {
  if (result.ok) return result.value
  throw new Unparsable(result.faults.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; '))
}

/** Larger events are quarantined: every subscription would get a delivery of that size. */
export const MAX_EVENT_BYTES = 256 * 1024

/** Deeper events are quarantined: writing them again would exceed the stack, and parsers of receivers have limits, too. */
export const MAX_EVENT_DEPTH = 500

/** @throws Unparsable with every fault and its JSON pointer */
export function parseEvent(content: Buffer): PlatformEvent {
  if (content.length > MAX_EVENT_BYTES) throw new Unparsable(`larger than ${MAX_EVENT_BYTES} bytes`)
  if (isDeeperThan(MAX_EVENT_DEPTH, content)) throw new Unparsable(`nested deeper than ${MAX_EVENT_DEPTH} levels`)
  const { eventId, eventType, occurredAt, tenant, data } = parsed(validateEvent(parseJson(content)))
  return { eventId: parseEventId(eventId), eventType, occurredAt, tenant, data }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const OPENING: ReadonlySet<number> = new Set(Buffer.from('[{'))
const CLOSING: ReadonlySet<number> = new Set(Buffer.from(']}'))

/** Whether a JSON text has more levels of objects and arrays. A shorter text than the brackets of these levels is not read. */
function isDeeperThan(levels: number, content: Buffer): boolean {
  if (content.length <= 2 * levels) return false
  let depth = 0
  let isText = false
  for (let at = 0; at < content.length; at += 1) {
    const byte = content[at] as number
    if (isText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (OPENING.has(byte)) depth += 1
    else if (CLOSING.has(byte)) depth -= 1
    if (depth > levels) return true
  }
  return false
}

export const serialiseEvent = ({ eventId, eventType, occurredAt, tenant, data }: PlatformEvent): Buffer =>
  Buffer.from(JSON.stringify({ eventId, eventType, occurredAt, tenant, data }))

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** @throws Unparsable */
export function parseJson(content: Buffer): unknown {
  try {
    return parseExactly(withoutHalfPairs(utf8.decode(content)))
  } catch (error) {
    throw new Unparsable('not JSON in UTF-8', { cause: error })
  }
}

/**
 * Puts U+FFFD in the place of each half of a surrogate pair (`\ud83d` alone, as a text cut in UTF-16 has it), as encoders of
 * UTF-8 do. Strict parsers of receivers would refuse the whole delivery at every attempt (RFC 8259, section 8.2).
 * @param json text that was decoded from UTF-8, so that it has halves in escapes only
 */
export const withoutHalfPairs = (json: string): string =>
  MAY_HAVE_HALF.test(json)
    ? json.replace(ESCAPES, (escaped) => (escaped.length === '\\ud83d'.length ? REPLACEMENT : escaped))
    : json

const MAY_HAVE_HALF = /\\u[dD][89a-fA-F]/
/** Whole pairs, then halves, then any other escape, so that `\\ud83d` is read as a backslash and text. */
const ESCAPES = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|[^])/g
const REPLACEMENT = String.raw`\ufffd`

/** Parses JSON so that `JSON.stringify` writes the same numbers again. @throws SyntaxError */
export const parseExactly = (text: string): unknown =>
  MAY_CHANGE_WHEN_WRITTEN.test(text) ? JSON.parse(text, keepAsWritten) : JSON.parse(text)

/** A number that JavaScript may write differently: with a point, an exponent, sixteen digits, or -0. */
const MAY_CHANGE_WHEN_WRITTEN = /(?:"\s*:|[[,])\s*(?:-0|-?\d+(?:[.eE]|\d{15}))/

/** Keeps `1.0`, and every digit beyond 2^53. https://github.com/tc39/proposal-json-parse-with-source */
function keepAsWritten(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  return typeof value === 'number' && source !== undefined && source !== String(value) ? rawJson(source) : value
}

const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (source: string) => unknown }

/**
 * The `occurredAt` of an event that follows another one of the same leg or agent. It is at least 1 ms later, so that
 * `occurredAt` and `sequence` have the same order, although the clocks of the reporting processes differ.
 * @param previous `occurredAt` of the previous event; null: none
 * @param at when the change happened, by the clock of the reporting process. `ClockWatch` bounds how far it can be ahead
 */
export function occurredAfter(previous: string | null, at: string): string {
  if (previous === null || Date.parse(at) > Date.parse(previous)) return at
  return new Date(Date.parse(previous) + 1).toISOString()
}

/** The body of every webhook delivery (specification, "Delivery envelope"). */
export interface Envelope {
  readonly deliveryId: string
  readonly eventType: string
  readonly occurredAt: string
  readonly tenant: Tenant
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Prepares the webhook bodies of one event. The part that all its deliveries share is serialised once. Every attempt
 * POSTs exactly the resulting bytes.
 * @param dataJson the data of the event, serialised: parsing that of the journal could change numbers (`1.0`)
 */
export function envelopesOf(
  { eventType, occurredAt, tenant }: Pick<PlatformEvent, 'eventType' | 'occurredAt' | 'tenant'>,
  dataJson: string,
): (deliveryId: DeliveryId) => Buffer {
  const shared = `${JSON.stringify({ eventType, occurredAt, tenant }).slice(1, -1)},"data":${dataJson}}`
  return (deliveryId) => Buffer.from(`{"deliveryId":"${deliveryId}",${shared}`)
}
