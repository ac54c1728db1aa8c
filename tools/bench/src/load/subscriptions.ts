import { type StackFile } from '@switchhook/local'
import { openManagement } from '@switchhook/testkit'
import { openClient } from './client.ts'
import type { EventType } from './events.ts'

const AT_ONCE = 8

/** Purges the queues whose names start with `prefix`. @throws if the stack's broker has no management API */
export async function purgeQueues({ urls }: StackFile, prefix: string): Promise<void> {
  const management = openManagement(urls.rabbitmqManagement ?? '', '/')
  for (const { name } of await management.queues()) if (name.startsWith(prefix)) await management.purgeQueue(name)
}

/**
 * Creates a subscription for each url. Resolves to a function that deletes them.
 * @param settings further fields of a new subscription
 */
export async function subscribe(
  stack: StackFile,
  token: string,
  urls: readonly string[],
  eventType: EventType = 'call.status',
  settings: object = {},
): Promise<() => Promise<void>> {
  const origin = stack.urls.apis[0] ?? ''
  const api = openClient(origin, AT_ONCE, token)
  const created = await Promise.all(
    urls.map((url) => api.post('/api/v1/webhooks/subscriptions', { url, eventTypes: [eventType], ...settings })),
  )
  return async () => {
    await Promise.all(created.map(({ id }) => api.delete(`/api/v1/webhooks/subscriptions/${String(id)}`)))
    await api.close()
  }
}
