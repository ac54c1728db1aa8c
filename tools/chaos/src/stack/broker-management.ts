import type { PlatformEvent } from '@switchhook/contracts'

/** Messages in each queue, including unacknowledged ones. The broker refreshes the counts once a second. */
export async function countMessages(managementUrl: string): Promise<Readonly<Record<string, number>>> {
  const queues = (await call(managementUrl, 'GET', 'queues/%2F')) as readonly Listed[]
  return Object.fromEntries(queues.map(({ name, messages }) => [name, messages ?? 0]))
}

/** Makes the broker close one client connection. Returns false if none is listed; new connections appear with a delay. */
export async function closeConnection(managementUrl: string, pick: number): Promise<boolean> {
  const open = ((await call(managementUrl, 'GET', 'vhosts/%2F/connections')) as readonly Listed[])
    .map(({ name }) => name)
    .toSorted()
  const name = open[pick % open.length]
  if (name === undefined) return false
  await call(managementUrl, 'DELETE', `connections/${encodeURIComponent(name)}`)
  return true
}

/** Deletes an empty queue. Returns false if the queue has messages or does not exist. */
export async function deleteEmptyQueue(managementUrl: string, name: string): Promise<boolean> {
  const queues = (await call(managementUrl, 'GET', 'queues/%2F')) as readonly Listed[]
  const queue = queues.find((one) => one.name === name)
  if (queue?.messages !== 0) return false
  await call(managementUrl, 'DELETE', `queues/%2F/${encodeURIComponent(name)}`)
  return true
}

/** Whether the queue exists and has a consumer. */
export async function isConsumed(managementUrl: string, name: string): Promise<boolean> {
  const queues = (await call(managementUrl, 'GET', 'queues/%2F')) as readonly Listed[]
  return queues.some((queue) => queue.name === name && (queue.consumers ?? 0) > 0)
}

/** Publishes an event to `switchhook.events`. Resolves to whether it was routed to a queue. */
export async function publishEvent(managementUrl: string, event: PlatformEvent): Promise<boolean> {
  const answer = (await call(managementUrl, 'POST', 'exchanges/%2F/switchhook.events/publish', {
    routing_key: event.eventType,
    payload: JSON.stringify(event),
    payload_encoding: 'string',
    properties: {
      delivery_mode: 2,
      content_type: 'application/json',
      type: event.eventType,
      message_id: event.eventId,
    },
  })) as { readonly routed: boolean }
  return answer.routed
}

interface Listed {
  readonly name: string
  readonly consumers?: number
  readonly messages?: number
}

async function call(managementUrl: string, method: string, path: string, body?: object): Promise<unknown> {
  const { origin, username, password } = new URL(managementUrl)
  const response = await fetch(`${origin}/api/${path}`, {
    method,
    headers: {
      authorization: `Basic ${btoa(`${username}:${password}`)}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`the RabbitMQ management API answered ${response.status} to ${method} ${path}`)
  return response.status === 204 || method === 'DELETE' ? undefined : response.json()
}
