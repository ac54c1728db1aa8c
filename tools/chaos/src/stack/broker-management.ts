import type { PlatformEvent } from '@switchhook/contracts'
import { Queue } from '@switchhook/messaging'
import { openManagement, type QueueInfo } from '@switchhook/testkit'

const queuesOf = (managementUrl: string): Promise<readonly QueueInfo[]> => openManagement(managementUrl, '/').queues()

/** Messages in each queue, including unacknowledged ones. The broker refreshes the counts once a second. */
export const countMessages = async (managementUrl: string): Promise<Readonly<Record<string, number>>> =>
  Object.fromEntries((await queuesOf(managementUrl)).map(({ name, messages }) => [name, messages]))

/** Packets of deliveries that workers have received and not acknowledged. */
export const countHeldPackets = async (managementUrl: string): Promise<number> =>
  (await queuesOf(managementUrl))
    .filter(({ name }) => name.startsWith(Queue.deliveryPackets))
    .reduce((sum, { messagesUnacknowledged }) => sum + messagesUnacknowledged, 0)

/** Makes the broker close one client connection. Returns false if none is listed; new connections appear with a delay. */
export async function closeConnection(managementUrl: string, pick: number): Promise<boolean> {
  const management = openManagement(managementUrl, '/')
  const connections = (await management.call('GET', 'vhosts/%2F/connections')) as readonly { readonly name: string }[]
  const open = connections.map(({ name }) => name).toSorted()
  const name = open[pick % open.length]
  if (name === undefined) return false
  await management.call('DELETE', `connections/${encodeURIComponent(name)}`)
  return true
}

/** Deletes a queue. Returns false if it has more messages than this, or does not exist. */
export async function deleteQueue(managementUrl: string, name: string, most: number): Promise<boolean> {
  const queue = (await queuesOf(managementUrl)).find((one) => one.name === name)
  if (queue === undefined || queue.messages > most) return false
  await openManagement(managementUrl, '/').deleteQueue(name)
  return true
}

/** 0 if the queue does not exist. */
export const countConsumers = async (managementUrl: string, name: string): Promise<number> =>
  (await queuesOf(managementUrl)).find((queue) => queue.name === name)?.consumers ?? 0

/** Publishes an event to `switchhook.events`. Resolves to whether it was routed to a queue. */
export async function publishEvent(managementUrl: string, event: PlatformEvent): Promise<boolean> {
  const { eventId, eventType } = event
  const answer = await openManagement(managementUrl, '/').call('POST', 'exchanges/%2F/switchhook.events/publish', {
    routing_key: eventType,
    payload: JSON.stringify(event),
    payload_encoding: 'string',
    properties: { delivery_mode: 2, content_type: 'application/json', type: eventType, message_id: eventId },
  })
  return (answer as { readonly routed: boolean }).routed
}
