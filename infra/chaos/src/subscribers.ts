import { setTimeout as sleep } from 'node:timers/promises'
import { awayAtTimes } from './away-at-times.ts'
import { BEHAVIOURS } from './behaviour.ts'
import type { Client } from './client.ts'
import { type RunningEndpoint, startEndpoint } from './endpoint.ts'
import { LONG_MS } from './judge-notices.ts'
import { type Notebook, openNotebook } from './notebook.ts'
import type { Absence } from './observation.ts'

/** An endpoint of each behaviour, subscribed. */
export interface Subscribers {
  readonly notebook: Notebook
  readonly subscriptions: readonly { readonly endpoint: string; readonly subscriptionId: string }[]
  absences(): readonly Absence[]
  /** From now on none of them is broken. */
  repair(): void
  /** Those that are away at times come back, and then are away for so long that it has to be told. */
  outage(): Promise<void>
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
    endpoints.map(async (endpoint) => {
      const { name, eventTypes } = endpoint.behaviour
      const { id, secret } = await subscribe(client, { url: endpoint.url, eventTypes, description: name })
      endpoint.expect(secret)
      return { endpoint: name, subscriptionId: id }
    }),
  )
  const staying = new AbortController()
  const leaving = endpoints.filter(({ behaviour }) => behaviour.isAwayAtTimes)
  const moving = Promise.all(leaving.map((endpoint) => awayAtTimes(endpoint, seed, staying.signal)))
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
    absences: () => endpoints.flatMap(({ absences }) => absences),
    outage: async () => {
      await allStay()
      await Promise.all(leaving.map((endpoint) => leaveForLong(endpoint, notebook)))
    },
    allStay,
    close: async () => {
      await allStay()
      await Promise.all(endpoints.map((endpoint) => endpoint.leave()))
    },
  }
}

/** More than long: the port is closed and opened meanwhile. */
const OUTAGE_MS = LONG_MS + 1_000
/** An endpoint that gets nothing after its return is looked for at the end. */
const RETURN_WITHIN_MS = 20_000

/** An outage of its own, not the rest of the one before: first it gets something. */
async function leaveForLong(endpoint: RunningEndpoint, notebook: Notebook): Promise<void> {
  await Promise.race([notebook.newEventArrives(endpoint.behaviour.name), sleep(RETURN_WITHIN_MS)])
  await endpoint.leave()
  await sleep(OUTAGE_MS)
  await endpoint.comeBack()
}

async function subscribe(client: Client, body: object): Promise<{ readonly id: string; readonly secret: string }> {
  const { status, body: created } = await client.request('POST', '/api/v1/webhooks/subscriptions', body)
  if (status !== 201) throw new Error(`a subscription was answered ${status}`)
  return { id: String(created['id']), secret: String(created['secret']) }
}
