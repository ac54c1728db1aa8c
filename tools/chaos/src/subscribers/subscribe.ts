import { randomUUID } from 'node:crypto'
import type { Client } from '../load/client.ts'
import type { Behaviour } from './behaviour.ts'

/** Creates one subscription, even if the request has to be repeated. */
export async function subscribe(client: Client, body: object) {
  const once = { 'idempotency-key': randomUUID() }
  const { status, body: created } = await client.insist('POST', '/api/v1/webhooks/subscriptions', body, once)
  if (status !== 201) throw new Error(`creating a subscription was answered ${status}`)
  return { id: String(created['id']), secret: String(created['secret']) }
}

/** The body that creates the subscription of an endpoint; without `url`, its deliveries are pulled. */
export const subscriptionTo = (
  { name: description, mode, eventTypes, filter, headers, expireAfterSeconds, deleteAfterUnusedSeconds }: Behaviour,
  url?: string,
): object => ({
  mode,
  url,
  eventTypes,
  description,
  filter,
  headers,
  expireAfterSeconds,
  deleteAfterUnusedSeconds,
})

/** Rotates a subscription's secret once. Returns undefined if too many previous secrets are still active. */
export async function rotateSecret(
  client: Client,
  subscriptionId: string,
  overlapSeconds: number,
): Promise<string | undefined> {
  const path = `/api/v1/webhooks/subscriptions/${subscriptionId}/rotate-secret`
  const once = { 'idempotency-key': randomUUID() }
  const { status, body } = await client.insist('POST', path, { overlapSeconds }, once)
  if (status === 409) return undefined
  if (status !== 200) throw new Error(`rotating a secret was answered ${status}`)
  return String(body['secret'])
}
