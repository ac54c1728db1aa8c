import type { Message } from 'amqplib'
import { DELIVERY_EXCHANGE, Queue } from '../topology/topology.ts'
import type { OutgoingMessage } from './message.ts'

const REASON = 'sh-quarantine-reason'
const AT = 'sh-quarantine-at'
const FROM = 'sh-quarantine-from'
const EXCHANGE = 'sh-quarantine-exchange'
const ROUTING_KEY = 'sh-quarantine-routing-key'
const DROPPED = 'sh-quarantine-dropped-headers'

/** In characters of JSON. All headers of a message must fit into 64 KiB, ours included. */
const MAX_FOREIGN_HEADERS = 16_384

/** Why a message is in quarantine, and where a requeue sends it. */
export interface Origin {
  readonly reason: string
  /** The queue that it was consumed from. */
  readonly queue: string
  readonly exchange: string
  readonly routingKey: string
  /** ISO 8601, UTC. */
  readonly at: string
}

/**
 * A message for the quarantine: content and properties unchanged, with the origin in headers of our own. The sender's
 * headers are dropped if they are too large to be published again; a header counts them.
 */
export function quarantineMessage(message: Message, origin: Origin): OutgoingMessage {
  const foreign = originalHeaders(message)
  const isSmall = JSON.stringify(foreign).length <= MAX_FOREIGN_HEADERS
  return {
    exchange: DELIVERY_EXCHANGE,
    routingKey: Queue.quarantine,
    content: message.content,
    properties: {
      ...propertiesOf(message),
      headers: {
        ...(isSmall ? foreign : { [DROPPED]: Object.keys(foreign).length }),
        [REASON]: origin.reason,
        [AT]: origin.at,
        [FROM]: origin.queue,
        [EXCHANGE]: origin.exchange,
        [ROUTING_KEY]: origin.routingKey,
      },
    },
  }
}

export function releasedMessage(message: Message, origin: Origin): OutgoingMessage {
  return {
    exchange: origin.exchange,
    routingKey: origin.routingKey,
    content: message.content,
    properties: { ...propertiesOf(message), headers: originalHeaders(message) },
  }
}

/** undefined: neither this service nor the broker moved it to quarantine, so its origin is unknown. */
export function originOf({ properties }: Pick<Message, 'properties'>): Origin | undefined {
  const headers: Readonly<Record<string, unknown>> = properties.headers ?? {}
  return recordedOrigin(headers) ?? deadLetterOrigin(headers)
}

function recordedOrigin(headers: Readonly<Record<string, unknown>>): Origin | undefined {
  const [reason, at, queue, exchange, routingKey] = [REASON, AT, FROM, EXCHANGE, ROUTING_KEY].map(
    (name) => headers[name],
  )
  if (!isText(reason) || !isText(at) || !isText(queue) || !isText(exchange) || !isText(routingKey)) return undefined
  return { reason, at, queue, exchange, routingKey }
}

/** A dead letter: the broker moved it here, mostly after `x-delivery-limit` returns. The newest death comes first. */
function deadLetterOrigin(headers: Readonly<Record<string, unknown>>): Origin | undefined {
  const deaths = headers['x-death']
  const death: unknown = Array.isArray(deaths) ? deaths[0] : undefined
  if (!isRecord(death)) return undefined
  const { reason, queue, exchange, time, 'routing-keys': keys } = death
  const routingKey: unknown = Array.isArray(keys) ? keys[0] : undefined
  if (!isText(reason) || !isText(queue) || !isText(exchange) || !isText(routingKey)) return undefined
  const seconds = isRecord(time) && typeof time['value'] === 'number' ? time['value'] : 0
  return { reason, queue, exchange, routingKey, at: new Date(seconds * 1_000).toISOString() }
}

/**
 * The sender's properties of the content. Deliberately without `expiration`, which would delete the message from
 * quarantine, and `userId`, which the broker checks against our own user.
 */
function propertiesOf({ properties }: Message): OutgoingMessage['properties'] {
  const { appId, contentEncoding, contentType, correlationId, messageId, timestamp, type } = properties
  const all = { appId, contentEncoding, contentType, correlationId, messageId, timestamp, type }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** The sender's headers: without the broker's own, the routing instructions (CC, BCC), and ours. */
function originalHeaders({ properties }: Message): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties.headers ?? {}).filter(([name]) => !NOT_THE_SENDERS.test(name)))
}

const NOT_THE_SENDERS = /^(x-(death|delivery-count|acquired-count|(first|last)-death-.*)|B?CC|sh-quarantine-.*)$/

const isText = (value: unknown): value is string => typeof value === 'string'
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
