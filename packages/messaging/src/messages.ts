import {
  type Delivery,
  deliveryHeaders,
  type PlatformEvent,
  type ReceiverCheck,
  serialiseEvent,
} from '@switchhook/contracts'
import type { OutgoingMessage } from './publisher.ts'
import { DELIVERY_EXCHANGE, EVENTS_EXCHANGE, Queue } from './topology.ts'

const contentType = 'application/json'

export function eventMessage(event: PlatformEvent): OutgoingMessage {
  const { traceparent } = event
  return {
    exchange: EVENTS_EXCHANGE,
    routingKey: event.eventType,
    content: serialiseEvent(event),
    properties: {
      contentType,
      messageId: event.eventId,
      type: event.eventType,
      ...(traceparent !== undefined && { headers: { traceparent } }),
    },
  }
}

/** The content is the webhook's body, byte for byte; only what is ours goes into the headers, never the broker's. */
export function deliveryMessage(delivery: Delivery, queue: string): OutgoingMessage {
  return {
    exchange: DELIVERY_EXCHANGE,
    routingKey: queue,
    content: delivery.body,
    properties: {
      contentType,
      messageId: delivery.deliveryId,
      type: delivery.eventType,
      headers: deliveryHeaders(delivery),
    },
  }
}

export const checkMessage = (check: ReceiverCheck): OutgoingMessage => ({
  exchange: DELIVERY_EXCHANGE,
  routingKey: Queue.receiverChecks,
  content: Buffer.from(JSON.stringify(check)),
  properties: { contentType, messageId: check.checkId, type: 'receiver.check' },
})
