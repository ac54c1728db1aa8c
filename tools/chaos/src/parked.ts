import type { Client } from './client.ts'
import type { Parked } from './observation.ts'

interface Listed {
  readonly deliveryId: string
  readonly run: number
  readonly parkedReason: string
}

/** Every parked delivery of an endpoint's subscription, as the api lists them. */
export async function parkedOf(client: Client, endpoint: string, subscriptionId: string): Promise<Parked[]> {
  const all: Parked[] = []
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ state: 'parked', limit: '100', ...(cursor !== null && { cursor }) })
    const path = `/api/v1/webhooks/subscriptions/${subscriptionId}/deliveries?${query.toString()}`
    const { status, body } = await client.insist('GET', path)
    if (status !== 200) throw new Error(`the list of parked deliveries was answered ${status}`)
    const items = body['items'] as readonly Listed[]
    all.push(...items.map(({ deliveryId, run, parkedReason }) => ({ endpoint, deliveryId, run, reason: parkedReason })))
    cursor = body['nextCursor'] as string | null
  } while (cursor !== null)
  return all
}
