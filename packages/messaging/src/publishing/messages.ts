import { randomUUID } from 'node:crypto'
import {
  type Delivery,
  deliveryHeaders,
  INSTALLATION_HEADER,
  type InstallationId,
  type OutcomeBatch,
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
  REVISION_HEADER,
} from '../topology/topology.ts'
import type { OutgoingMessage } from './publish-mode.ts'

const contentType = 'application/json'

/** The headers of a message, with the id of the installation that published it. */
const marked = (installation: InstallationId | undefined, headers: object = {}): Readonly<Record<string, unknown>> => ({
  ...headers,
  ...(installation !== undefined && { [INSTALLATION_HEADER]: installation }),
})

/** @param exchange the one of the event's shard */
export function eventMessage(
  event: PlatformEvent,
  exchange: string = FANOUT_EXCHANGE,
  installation?: InstallationId,
): OutgoingMessage {
  const { eventId, eventType, traceparent, revision } = event
  const headers = marked(installation, {
    ...(traceparent !== undefined && { traceparent }),
    ...(revision !== undefined && { [REVISION_HEADER]: revision }),
  })
  return {
    exchange,
    routingKey: eventType,
    content: serialiseEvent(event),
    properties: { contentType, messageId: eventId, type: eventType, headers },
  }
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
    headers: marked(installation, headers),
  },
})

export const checkMessage = (check: ReceiverCheck, installation?: InstallationId): OutgoingMessage => ({
  exchange: DELIVERY_EXCHANGE,
  routingKey: Queue.receiverChecks,
  content: Buffer.from(JSON.stringify(check)),
  properties: { contentType, messageId: check.checkId, type: 'receiver.check', headers: marked(installation) },
})

export const outcomesMessage = (batch: OutcomeBatch, installation?: InstallationId): OutgoingMessage => ({
  exchange: DELIVERY_EXCHANGE,
  routingKey: Queue.reportedOutcomes,
  content: Buffer.from(JSON.stringify(batch)),
  properties: { contentType, messageId: batch.batchId, type: 'delivery.outcomes', headers: marked(installation) },
})

/** First attempts that share a message. @param packet deliveries, or the content of a packet that was received */
export const deliveryPacketMessage = (
  packet: readonly Delivery[] | Buffer,
  queue: string,
  installation?: InstallationId,
): OutgoingMessage =>
  packetMessage(Buffer.isBuffer(packet) ? packet : packDeliveries(packet), 'delivery.packet', queue, installation)

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
    headers: marked(installation),
  },
})

/** An event from a pack as fan-out received it. Fan-out does not put it into a pack again. */
export const aloneMessage = (event: SingleEvent, installation?: InstallationId): OutgoingMessage =>
  unpacked(event, FANOUT_EXCHANGE, marked(installation, { [ALONE_HEADER]: true }))

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
