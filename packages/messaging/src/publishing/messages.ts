import { randomUUID } from 'node:crypto'
import {
  type Delivery,
  deliveryHeaders,
  INSTALLATION_HEADER,
  type InstallationId,
  type PlatformEvent,
  parseEvent,
  serialiseEvent,
} from '@switchhook/contracts'
import type { OutgoingMessage } from '../message/outgoing-message.ts'
import { type PackedDelivery, packDeliveries } from '../packets/delivery-packet.ts'
import { EVENT_PACK, packEvents, type SingleEvent } from '../packets/event-pack.ts'
import {
  ALONE_HEADER,
  COPY_HEADER,
  DELIVERY_EXCHANGE,
  EVENTS_EXCHANGE,
  eventShardOf,
  FANOUT_EXCHANGE,
  fanoutExchange,
  REVISION_HEADER,
} from '../topology/topology.ts'

const contentType = 'application/json'

export function markedBy(installation: InstallationId | undefined, message: OutgoingMessage): OutgoingMessage {
  if (installation === undefined) return message
  const headers = { ...message.properties.headers, [INSTALLATION_HEADER]: installation }
  return { ...message, properties: { ...message.properties, headers } }
}

/** A message to one of the queues, as JSON without headers unless `properties` say otherwise. */
const toQueue = (queue: string, content: Buffer, properties: OutgoingMessage['properties']): OutgoingMessage => ({
  exchange: DELIVERY_EXCHANGE,
  routingKey: queue,
  content,
  properties: { contentType, headers: {}, ...properties },
})

/** A message to fan-out. @param headers in addition to `traceparent` */
const toFanout = (
  { eventType, traceparent }: Pick<SingleEvent, 'eventType' | 'traceparent'>,
  content: Buffer,
  exchange: string,
  messageId: string,
  headers: object,
): OutgoingMessage => ({
  exchange,
  routingKey: eventType,
  content,
  properties: {
    contentType,
    messageId,
    type: eventType,
    headers: { ...headers, ...(traceparent !== undefined && { traceparent }) },
  },
})

/** @param exchange the one of the event's shard */
export function eventMessage(event: PlatformEvent, exchange: string = FANOUT_EXCHANGE): OutgoingMessage {
  const headers = { ...(event.revision !== undefined && { [REVISION_HEADER]: event.revision }) }
  return toFanout(event, serialiseEvent(event), exchange, event.eventId, headers)
}

/** The copy for queues that other systems have bound to the public exchange. */
export const copyOf = (message: OutgoingMessage): OutgoingMessage => ({
  ...message,
  exchange: EVENTS_EXCHANGE,
  properties: {
    ...message.properties,
    headers: { ...message.properties.headers, [REVISION_HEADER]: undefined, [COPY_HEADER]: true },
  },
})

/** The content is the webhook's body, byte for byte. The headers are only our own: the broker's are not copied. */
export const deliveryMessage = (delivery: Delivery, queue: string): OutgoingMessage =>
  packedDeliveryMessage({ content: delivery.body, headers: deliveryHeaders(delivery) }, queue)

export const packedDeliveryMessage = ({ content, headers }: PackedDelivery, queue: string): OutgoingMessage =>
  toQueue(queue, content, {
    messageId: String(headers['sh-delivery-id']),
    type: String(headers['sh-event-type']),
    headers: { ...headers },
  })

export const jsonMessage = (queue: string, value: object, messageId: string, type: string): OutgoingMessage =>
  toQueue(queue, Buffer.from(JSON.stringify(value)), { messageId, type })

/** First attempts that share a message. @param packet deliveries, or the content of a packet that was received */
export const deliveryPacketMessage = (packet: readonly Delivery[] | Buffer, queue: string): OutgoingMessage =>
  packetMessage(Buffer.isBuffer(packet) ? packet : packDeliveries(packet), 'delivery.packet', queue)

export const eventPackMessage = (events: readonly SingleEvent[], queue: string): OutgoingMessage =>
  packetMessage(packEvents(events), EVENT_PACK, queue)

const packetMessage = (content: Buffer, type: string, queue: string): OutgoingMessage =>
  toQueue(queue, content, { contentType: 'application/octet-stream', messageId: randomUUID(), type })

/** An event from a pack as fan-out received it. Fan-out does not put it into a pack again. */
export const aloneMessage = (event: SingleEvent): OutgoingMessage =>
  toFanout(event, event.content, FANOUT_EXCHANGE, randomUUID(), { [ALONE_HEADER]: true })

/**
 * An event of a pack that no fan-out has taken, as if it had never been packed.
 * @param installation as the pack named it: fan-out judges it
 */
export const unpackedMessage = (event: SingleEvent, shards: number, installation: unknown): OutgoingMessage =>
  toFanout(event, event.content, fanoutExchange(shardOf(event, shards)), randomUUID(), {
    ...(typeof installation === 'string' && { [INSTALLATION_HEADER]: installation }),
  })

/** Fan-out quarantines an event that cannot be parsed, whatever its shard. */
function shardOf({ content }: SingleEvent, shards: number): number {
  try {
    return eventShardOf(parseEvent(content), shards)
  } catch {
    return 0
  }
}
