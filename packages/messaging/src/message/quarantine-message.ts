import type { Message } from 'amqplib'
import { DELIVERY_EXCHANGE, Queue } from '../topology/topology.ts'
import type { OutgoingMessage } from './message.ts'

/** The header of each member of an origin. */
export const ORIGIN = {
  reason: 'sh-quarantine-reason',
  at: 'sh-quarantine-at',
  queue: 'sh-quarantine-from',
  exchange: 'sh-quarantine-exchange',
  routingKey: 'sh-quarantine-routing-key',
} as const
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
        [ORIGIN.reason]: origin.reason,
        [ORIGIN.at]: origin.at,
        [ORIGIN.queue]: origin.queue,
        [ORIGIN.exchange]: origin.exchange,
        [ORIGIN.routingKey]: origin.routingKey,
      },
    },
  }
}

/**
 * The sender's properties of the content. Deliberately without `expiration`, which would delete the message from
 * quarantine, and `userId`, which the broker checks against our own user.
 */
export function propertiesOf({ properties }: Message): OutgoingMessage['properties'] {
  const { appId, contentEncoding, contentType, correlationId, messageId, timestamp, type } = properties
  const all = { appId, contentEncoding, contentType, correlationId, messageId, timestamp, type }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** The sender's headers: without the broker's own, the routing instructions (CC, BCC), and ours. */
export function originalHeaders({ properties }: Message): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties.headers ?? {}).filter(([name]) => !NOT_THE_SENDERS.test(name)))
}

const NOT_THE_SENDERS = /^(x-(death|delivery-count|acquired-count|(first|last)-death-.*)|B?CC|sh-quarantine-.*)$/
