import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { managementOf, type StackFile } from '@switchhook/local'
import { EVENT_PACKET, packEvents, Queue } from '@switchhook/messaging'
import { anEvent, openManagement } from '@switchhook/testkit'
import { type ConfirmChannel, connect } from 'amqplib'
import type { Bench } from '../bench.ts'
import { monotonicMs } from '../measure/clock.ts'

export type EventType = 'call.status' | 'agent.status'

/** About the size of a real `call.status` event. */
export const callData = (n: number) => ({
  callId: randomUUID(),
  agentUri: 'sip:alice@acme.example',
  state: 3,
  sequence: n,
  text: 'x'.repeat(400),
})

/** The same with the time, so that the endpoint can note how long the delivery took. */
export const timedData = (n: number) => ({ ...callData(n), sentAt: monotonicMs() })

const eventOf = (eventType: EventType, data: object, tenant: string) =>
  anEvent({ eventType, occurredAt: new Date().toISOString(), tenant, data: { ...data } })

/** Opens a connection to the stack's broker with one channel, for one figure. */
export async function openChannel({ stack, defer }: Pick<Bench, 'stack' | 'defer'>): Promise<ConfirmChannel> {
  const connection = await connect(stack.urls.amqp)
  defer(() => connection.close())
  return connection.createConfirmChannel()
}

/** Publishes an event on the public exchange. It is stored once the channel's `waitForConfirms` has resolved. */
export function publishEvent(channel: ConfirmChannel, eventType: EventType, data: object, tenant = 'acme'): void {
  const event = eventOf(eventType, data, tenant)
  channel.publish('switchhook.events', eventType, Buffer.from(JSON.stringify(event)), {
    persistent: true,
    contentType: 'application/json',
    type: eventType,
    messageId: event.eventId,
  })
}

/** The same for several events in one message, as the api publishes those of a commit or a busy tick (ADR 0068). */
export function publishEventPack(
  channel: ConfirmChannel,
  events: readonly { readonly data: object; readonly tenant: string }[],
): void {
  const eventType = 'call.status'
  const members = events.map(({ data, tenant }) => ({
    content: Buffer.from(JSON.stringify(eventOf(eventType, data, tenant))),
    eventType,
  }))
  channel.sendToQueue(Queue.eventPackets, packEvents(members), {
    persistent: true,
    contentType: 'application/octet-stream',
    type: EVENT_PACKET,
    messageId: randomUUID(),
  })
}

/** The numbers from 0 to `count`, grouped as the events of messages. */
export const messagesOf = (count: number, perMessage: number): number[][] =>
  Array.from({ length: Math.ceil(count / perMessage) }, (_, message) =>
    Array.from({ length: Math.min(perMessage, count - message * perMessage) }, (_, n) => message * perMessage + n),
  )

const QUIET_MS = 1_000

/** Events published before the next wait for confirms. */
const CHUNK = 500

/** Resolves once `count` events are stored. */
export async function publishMany(channel: ConfirmChannel, count: number, tenant?: string): Promise<void> {
  for (let n = 0; n < count; n++) {
    publishEvent(channel, 'call.status', callData(n), tenant)
    if ((n + 1) % CHUNK === 0) await channel.waitForConfirms()
  }
  await channel.waitForConfirms()
}

/** Purges the queues whose names start with `prefix`. @throws if the stack's broker has no management API */
export async function purgeQueues(stack: StackFile, prefix: string): Promise<void> {
  const management = openManagement(managementOf(stack), '/')
  for (const { name } of await management.queues()) if (name.startsWith(prefix)) await management.purgeQueue(name)
}

/** Between two runs: deliveries of the first that wait for a retry would disturb the second. */
export async function discardDeliveries(stack: StackFile, channel: ConfirmChannel): Promise<void> {
  await channel.waitForConfirms()
  await sleep(QUIET_MS)
  await purgeQueues(stack, 'delivery.')
}

/** The webhook body of an event, for baselines. */
export const envelope = (data: object): string =>
  JSON.stringify({
    deliveryId: randomUUID(),
    eventType: 'call.status',
    occurredAt: new Date().toISOString(),
    tenant: 'acme',
    data,
  })

/** Headers of a webhook request, for baselines. */
export const WEBHOOK_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-SVC-Event': 'call.status',
  'X-SVC-Attempt': '1',
}
