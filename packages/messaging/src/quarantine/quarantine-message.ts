import type { Message } from 'amqplib'
import type { OutgoingMessage } from '../publishing/publisher.ts'
import { DELIVERY_EXCHANGE, Queue } from '../topology/topology.ts'

const REASON = 'sh-quarantine-reason'
const AT = 'sh-quarantine-at'
const FROM = 'sh-quarantine-from'
const EXCHANGE = 'sh-quarantine-exchange'
const ROUTING_KEY = 'sh-quarantine-routing-key'
const DROPPED = 'sh-quarantine-dropped-headers'

/** All headers of a message have to fit into 64 KiB; ours come on top of the sender's. */
const MAX_FOREIGN_HEADERS = 16_384

/** Why a message lies in quarantine, and where it goes when it is tried again. */
export interface Origin {
  readonly reason: string
  /** The queue that it was taken from. */
  readonly queue: string
  readonly exchange: string
  readonly routingKey: string
  /** ISO 8601, UTC. */
  readonly at: string
}

/**
 * The message as it goes into quarantine: content and description as they came, and the origin in headers of our own.
 * Foreign headers that are too large to be published again are left out, and counted.
 */
export function quarantineMessage(message: Message, origin: Origin): OutgoingMessage {
  const foreign = originalHeaders(message)
  const isSmall = JSON.stringify(foreign).length <= MAX_FOREIGN_HEADERS
  return {
    exchange: DELIVERY_EXCHANGE,
    routingKey: Queue.quarantine,
    content: message.content,
    properties: {
      ...descriptionOf(message),
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

/** The message as it goes back to where it came from. */
export function releasedMessage(message: Message, origin: Origin): OutgoingMessage {
  return {
    exchange: origin.exchange,
    routingKey: origin.routingKey,
    content: message.content,
    properties: { ...descriptionOf(message), headers: originalHeaders(message) },
  }
}

/** undefined: neither we nor the broker put it there, so nobody knows where it belongs. */
export function originOf({ properties }: Pick<Message, 'properties'>): Origin | undefined {
  const headers: Readonly<Record<string, unknown>> = properties.headers ?? {}
  return ownOrigin(headers) ?? brokersOrigin(headers)
}

function ownOrigin(headers: Readonly<Record<string, unknown>>): Origin | undefined {
  const [reason, at, queue, exchange, routingKey] = [REASON, AT, FROM, EXCHANGE, ROUTING_KEY].map(
    (name) => headers[name],
  )
  if (!isText(reason) || !isText(at) || !isText(queue) || !isText(exchange) || !isText(routingKey)) return undefined
  return { reason, at, queue, exchange, routingKey }
}

/** A dead letter: the broker gave up on it, mostly as it came back `x-delivery-limit` times. The newest death comes first. */
function brokersOrigin(headers: Readonly<Record<string, unknown>>): Origin | undefined {
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
 * What the sender said of the content. Left behind on purpose: `expiration` would let it vanish from quarantine, and
 * `userId` is checked against our own user.
 */
function descriptionOf({ properties }: Message): OutgoingMessage['properties'] {
  const { appId, contentEncoding, contentType, correlationId, messageId, timestamp, type } = properties
  const all = { appId, contentEncoding, contentType, correlationId, messageId, timestamp, type }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** The sender's headers, without the broker's notes on the message's way, its copy instructions (CC, BCC), and ours. */
function originalHeaders({ properties }: Message): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties.headers ?? {}).filter(([name]) => !NOT_THE_SENDERS.test(name)))
}

const NOT_THE_SENDERS = /^(x-(death|delivery-count|acquired-count|(first|last)-death-.*)|B?CC|sh-quarantine-.*)$/

const isText = (value: unknown): value is string => typeof value === 'string'
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
