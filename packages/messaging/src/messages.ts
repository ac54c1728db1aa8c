import {
  type Delivery,
  deliveryHeaders,
  INSTALLATION_HEADER,
  type InstallationId,
  type PlatformEvent,
  type ReceiverCheck,
  serialiseEvent,
} from '@switchhook/contracts'
import type { OutgoingMessage } from './publisher.ts'
import { DELIVERY_EXCHANGE, EVENTS_EXCHANGE, Queue } from './topology.ts'

const contentType = 'application/json'

export function eventMessage(event: PlatformEvent, installation?: InstallationId): OutgoingMessage {
  const { traceparent } = event
  const headers = {
    ...(traceparent !== undefined && { traceparent }),
    ...(installation !== undefined && { [INSTALLATION_HEADER]: installation }),
  }
  return {
    exchange: EVENTS_EXCHANGE,
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

/** The content is the webhook's body, byte for byte; only what is ours goes into the headers, never the broker's. */
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
