import { awayAtTimes } from './away-at-times.ts'
import { BEHAVIOURS } from './behaviour.ts'
import type { Client } from './client.ts'
import { startEndpoint } from './endpoint.ts'
import { type Notebook, openNotebook } from './notebook.ts'

/** An endpoint of each behaviour, subscribed. */
export interface Subscribers {
  readonly notebook: Notebook
  readonly subscriptions: readonly { readonly endpoint: string; readonly subscriptionId: string }[]
  /** From now on none of them is broken. */
  repair(): void
  /** From now on all of them are there. */
  allStay(): Promise<void>
  close(): Promise<void>
}

export async function startSubscribers(client: Client, seed: number): Promise<Subscribers> {
  const notebook = openNotebook()
  const endpoints = await Promise.all(
    BEHAVIOURS.map((behaviour) => startEndpoint(behaviour, seed, (post) => notebook.note(post))),
  )
  const subscriptions = await Promise.all(
    endpoints.map(async ({ behaviour: { name, eventTypes }, url }) => ({
      endpoint: name,
      subscriptionId: await subscribe(client, { url, eventTypes, description: name }),
    })),
  )
  const staying = new AbortController()
  const moving = Promise.all(
    endpoints
      .filter(({ behaviour }) => behaviour.isAwayAtTimes)
      .map((endpoint) => awayAtTimes(endpoint, seed, staying.signal)),
  )
  const allStay = async (): Promise<void> => {
    staying.abort()
    await moving
  }
  return {
    notebook,
    subscriptions,
    repair: () => {
      for (const endpoint of endpoints) endpoint.repair()
    },
    allStay,
    close: async () => {
      await allStay()
      await Promise.all(endpoints.map((endpoint) => endpoint.leave()))
    },
  }
}

async function subscribe(client: Client, body: object): Promise<string> {
  const { status, body: created } = await client.request('POST', '/api/v1/webhooks/subscriptions', body)
  if (status !== 201) throw new Error(`a subscription was answered ${status}`)
  return String(created['id'])
}
