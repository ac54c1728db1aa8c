import { randomUUID } from 'node:crypto'
import {
  type Delivery,
  deliveryHeaders,
  INSTALLATION_HEADER,
  type InstallationId,
  type PlatformEvent,
  serialiseEvent,
} from '@switchhook/contracts'
import type { OutgoingMessage } from '../message/message.ts'
import { EVENT_PACKET, type PackedDelivery, packDeliveries, packEvents, type SingleEvent } from '../packets/packet.ts'
import {
  COPY_HEADER,
  DELIVERY_EXCHANGE,
  EVENTS_EXCHANGE,
  FANOUT_EXCHANGE,
  REVISION_HEADER,
  UNPACKED_HEADER,
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

/** First attempts that share a message. */
export const deliveryPacketMessage = (deliveries: readonly Delivery[], queue: string): OutgoingMessage =>
  packetMessage(packDeliveries(deliveries), 'delivery.packet', queue)

export const eventPacketMessage = (events: readonly SingleEvent[], queue: string): OutgoingMessage =>
  packetMessage(packEvents(events), EVENT_PACKET, queue)

const packetMessage = (content: Buffer, type: string, queue: string): OutgoingMessage =>
  toQueue(queue, content, { contentType: 'application/octet-stream', messageId: randomUUID(), type })

/** An event from a packet as fan-out received it. Fan-out does not put it into a packet again. */
export const unpackedEventMessage = (event: SingleEvent): OutgoingMessage =>
  toFanout(event, event.content, FANOUT_EXCHANGE, randomUUID(), { [UNPACKED_HEADER]: true })
