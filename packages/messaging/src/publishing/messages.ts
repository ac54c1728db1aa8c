import { randomUUID } from 'node:crypto'
import {
  type Delivery,
  deliveryHeaders,
  INSTALLATION_HEADER,
  type InstallationId,
  type PlatformEvent,
  parseEvent,
  type ReceiverCheck,
  serialiseEvent,
} from '@switchhook/contracts'
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
  Queue,
} from '../topology/topology.ts'
import type { OutgoingMessage } from './publisher.ts'

const contentType = 'application/json'

/** @param exchange the one of the event's shard */
export function eventMessage(
  event: PlatformEvent,
  exchange: string = FANOUT_EXCHANGE,
  installation?: InstallationId,
): OutgoingMessage {
  const { traceparent } = event
  const headers = {
    ...(traceparent !== undefined && { traceparent }),
    ...(installation !== undefined && { [INSTALLATION_HEADER]: installation }),
  }
  return {
    exchange,
    routingKey: event.eventType,
    content: serialiseEvent(event),
    properties: {
      contentType,
      messageId: event.eventId,
      type: event.eventType,
      ...(Object.keys(headers).length > 0 && { headers }),
    },
  }
}

/** The copy for queues that other systems have bound to the public exchange. */
export const copyOf = (message: OutgoingMessage): OutgoingMessage => ({
  ...message,
  exchange: EVENTS_EXCHANGE,
  properties: { ...message.properties, headers: { ...message.properties.headers, [COPY_HEADER]: true } },
})

/** The content is the webhook's body, byte for byte. The headers are only our own: the broker's are not copied. */
export const deliveryMessage = (delivery: Delivery, queue: string, installation?: InstallationId): OutgoingMessage =>
  packedDeliveryMessage({ content: delivery.body, headers: deliveryHeaders(delivery) }, queue, installation)

/** A delivery from a packet as a message of its own. */
export const packedDeliveryMessage = (
  { content, headers }: PackedDelivery,
  queue: string,
  installation?: InstallationId,
): OutgoingMessage => ({
  exchange: DELIVERY_EXCHANGE,
  routingKey: queue,
  content,
  properties: {
    contentType,
    messageId: String(headers['sh-delivery-id']),
    type: String(headers['sh-event-type']),
    headers: { ...headers, ...(installation !== undefined && { [INSTALLATION_HEADER]: installation }) },
  },
})

export const checkMessage = (check: ReceiverCheck, installation?: InstallationId): OutgoingMessage => ({
  exchange: DELIVERY_EXCHANGE,
  routingKey: Queue.receiverChecks,
  content: Buffer.from(JSON.stringify(check)),
  properties: {
    contentType,
    messageId: check.checkId,
    type: 'receiver.check',
    ...(installation !== undefined && { headers: { [INSTALLATION_HEADER]: installation } }),
  },
})

/** First attempts that share a message. */
export const deliveryPacketMessage = (
  deliveries: readonly Delivery[],
  queue: string,
  installation?: InstallationId,
): OutgoingMessage => packetMessage(packDeliveries(deliveries), 'delivery.packet', queue, installation)

/** Several events in one message. */
export const eventPackMessage = (
  events: readonly SingleEvent[],
  queue: string,
  installation?: InstallationId,
): OutgoingMessage => packetMessage(packEvents(events), EVENT_PACK, queue, installation)

const packetMessage = (
  content: Buffer,
  type: string,
  queue: string,
  installation: InstallationId | undefined,
): OutgoingMessage => ({
  exchange: DELIVERY_EXCHANGE,
  routingKey: queue,
  content,
  properties: {
    contentType: 'application/octet-stream',
    messageId: randomUUID(),
    type,
    ...(installation !== undefined && { headers: { [INSTALLATION_HEADER]: installation } }),
  },
})

/** An event from a pack as fan-out received it. Fan-out does not put it into a pack again. */
export const aloneMessage = (event: SingleEvent, installation?: InstallationId): OutgoingMessage =>
  unpacked(event, FANOUT_EXCHANGE, {
    [ALONE_HEADER]: true,
    ...(installation !== undefined && { [INSTALLATION_HEADER]: installation }),
  })

/**
 * An event of a pack that no fan-out has taken, as if it had never been packed.
 * @param installation as the pack named it: fan-out judges it
 */
export const unpackedMessage = (event: SingleEvent, shards: number, installation: unknown): OutgoingMessage =>
  unpacked(event, fanoutExchange(shardOf(event, shards)), {
    ...(typeof installation === 'string' && { [INSTALLATION_HEADER]: installation }),
  })

const unpacked = (
  { content, eventType, traceparent }: SingleEvent,
  exchange: string,
  headers: object,
): OutgoingMessage => ({
  exchange,
  routingKey: eventType,
  content,
  properties: {
    contentType,
    messageId: randomUUID(),
    type: eventType,
    headers: { ...headers, ...(traceparent !== undefined && { traceparent }) },
  },
})

/** Fan-out quarantines an event that cannot be parsed, whatever its shard. */
function shardOf({ content }: SingleEvent, shards: number): number {
  try {
    return eventShardOf(parseEvent(content), shards)
  } catch {
    return 0
  }
}
