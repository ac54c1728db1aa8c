import { randomUUID } from 'node:crypto'
import type { ConfirmChannel } from 'amqplib'

export type EventType = 'call.status' | 'agent.status'

/** About as much as a real event of a call carries. */
export const callData = (n: number) => ({
  callId: randomUUID(),
  agentUri: 'sip:alice@acme.example',
  state: 3,
  sequence: n,
  text: 'x'.repeat(400),
})

/** Hands an event to the broker by the public seam; the channel's `waitForConfirms` tells when it is stored. */
export function publishEvent(channel: ConfirmChannel, eventType: EventType, data: object): void {
  const eventId = randomUUID()
  const event = { eventId, eventType, occurredAt: new Date().toISOString(), tenant: 'acme', data }
  channel.publish('switchhook.events', eventType, Buffer.from(JSON.stringify(event)), {
    persistent: true,
    contentType: 'application/json',
    type: eventType,
    messageId: eventId,
  })
}

/** What the service makes of an event, for those that POST without it. */
export const envelope = (data: object): string =>
  JSON.stringify({
    deliveryId: randomUUID(),
    eventType: 'call.status',
    occurredAt: new Date().toISOString(),
    tenant: 'acme',
    data,
  })

/** As the service sends them, for those that POST without it. */
export const WEBHOOK_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-SVC-Event': 'call.status',
  'X-SVC-Attempt': '1',
}
