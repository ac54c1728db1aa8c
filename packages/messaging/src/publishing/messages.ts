import { randomUUID } from 'node:crypto'
import {
  type Delivery,
  deliveryHeaders,
  INSTALLATION_HEADER,
  type InstallationId,
  type PlatformEvent,
  type ReceiverCheck,
  serialiseEvent,
} from '@switchhook/contracts'
import {
  ALONE_HEADER,
  backlogQueue,
  COPY_HEADER,
  DELIVERY_EXCHANGE,
  EVENTS_EXCHANGE,
  FANOUT_EXCHANGE,
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
export function deliveryMessage(delivery: Delivery, queue: string, installation?: InstallationId): OutgoingMessage {
  return {
    exchange: DELIVERY_EXCHANGE,
    routingKey: queue,
    content: delivery.body,
    properties: {
      contentType,
      messageId: delivery.deliveryId,
      type: delivery.eventType,
      headers: deliveryHeaders(delivery, installation),
    },
  }
}

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

/** Several events of one backlog, in the format of fan-out. */
export const packMessage = (content: Buffer, backlog: number, installation?: InstallationId): OutgoingMessage => ({
  exchange: DELIVERY_EXCHANGE,
  routingKey: backlogQueue(backlog),
  content,
  properties: {
    contentType: 'application/octet-stream',
    messageId: randomUUID(),
    type: 'event.pack',
    ...(installation !== undefined && { headers: { [INSTALLATION_HEADER]: installation } }),
  },
})

/** An event from a pack as fan-out received it. Fan-out does not put it into a pack again. */
export const aloneMessage = (
  { content, eventType, traceparent }: SingleEvent,
  installation?: InstallationId,
): OutgoingMessage => ({
  exchange: FANOUT_EXCHANGE,
  routingKey: eventType,
  content,
  properties: {
    contentType,
    messageId: randomUUID(),
    type: eventType,
    headers: {
      [ALONE_HEADER]: true,
      ...(traceparent !== undefined && { traceparent }),
      ...(installation !== undefined && { [INSTALLATION_HEADER]: installation }),
    },
  },
})

export interface SingleEvent {
  /** The serialised event, not parsed again. */
  readonly content: Buffer
  readonly eventType: string
  readonly traceparent?: string
}
