import { setTimeout as sleep } from 'node:timers/promises'
import { awayAtTimes } from './away-at-times.ts'
import { BEHAVIOURS, DEAD_FOR_LONG } from './behaviour.ts'
import { SCHEDULE_MS } from './check-exhausted.ts'
import type { Client } from './client.ts'
import { type RunningEndpoint, startEndpoint } from './endpoint.ts'
import { type Guest, startGuest } from './guest.ts'
import { LONG_MS } from './judge-notices.ts'
import { type Notebook, openNotebook } from './notebook.ts'
import type { Absence } from './observation.ts'
import { rotateSecret, subscribe } from './subscribe.ts'

/** An endpoint of each behaviour with its subscription, and the guest. */
export interface Subscribers {
  readonly notebook: Notebook
  readonly guest: Guest
  /** Without the guest's. */
  readonly subscriptions: readonly { readonly endpoint: string; readonly subscriptionId: string }[]
  absences(): readonly Absence[]
  /** From now on none of them is broken. */
  repair(): void
  /** Answers false if too many former secrets still sign. */
  rotate(endpoint: string, overlapSeconds: number): Promise<boolean>
  /** Takes an endpoint away for longer than the schedule, in the background. Answers false if it is away already. */
  exhaust(): boolean
  /**
   * Those that are away at times come back, and then are away for so long that a notice is due. Resolves when every endpoint is
   * there again.
   */
  outage(): Promise<void>
  close(): Promise<void>
}

export async function startSubscribers(client: Client, seed: number): Promise<Subscribers> {
  const notebook = openNotebook()
  const note: Notebook['note'] = (post) => notebook.note(post)
  const endpoints = await Promise.all(BEHAVIOURS.map((behaviour) => startEndpoint(behaviour, seed, note)))
  const subscriptions = await Promise.all(
    endpoints.map(async (endpoint) => {
      const { name, eventTypes } = endpoint.behaviour
      const { id, secret } = await subscribe(client, { url: endpoint.url, eventTypes, description: name })
      endpoint.expect(secret)
      return { endpoint: name, subscriptionId: id }
    }),
  )
  const guest = await startGuest(client, seed, note)
  const staying = new AbortController()
  const leaving = endpoints.filter(({ behaviour }) => behaviour.isAwayAtTimes)
  const moving = Promise.all(leaving.map((endpoint) => awayAtTimes(endpoint, seed, staying.signal)))
  const dying = endpoints.find(({ behaviour }) => behaviour.name === DEAD_FOR_LONG)
  let death: Promise<void> | undefined
  const allStay = async (): Promise<void> => {
    staying.abort()
    await moving
  }
  return {
    notebook,
    guest,
    subscriptions,
    repair: () => {
      for (const endpoint of endpoints) endpoint.repair()
    },
    absences: () => endpoints.flatMap(({ absences }) => absences),
    rotate: async (name, overlapSeconds) => {
      const endpoint = endpoints.find(({ behaviour }) => behaviour.name === name)
      const { subscriptionId = '' } = subscriptions.find((one) => one.endpoint === name) ?? {}
      let isRotated = false
      await endpoint?.rotate(overlapSeconds * 1_000, async () => {
        const secret = await rotateSecret(client, subscriptionId, overlapSeconds)
        isRotated = secret !== undefined
        return secret
      })
      return isRotated
    },
    exhaust: () => {
      if (dying === undefined || death !== undefined) return false
      death = die(dying, staying.signal).finally(() => (death = undefined))
      return true
    },
    outage: async () => {
      await death
      await allStay()
      await Promise.all(leaving.map((endpoint) => leaveForLong(endpoint, notebook)))
    },
    close: async () => {
      await allStay()
      await death
      await Promise.all([...endpoints.map((endpoint) => endpoint.leave()), guest.close()])
    },
  }
}

/** The schedule, and what a last slot is postponed for by the breaker: its first deliveries are exhausted by then. */
const DEATH_MS = SCHEDULE_MS + 28_000

async function die(endpoint: RunningEndpoint, signal: AbortSignal): Promise<void> {
  await endpoint.leave()
  await sleep(DEATH_MS, undefined, { signal }).catch(() => undefined)
  await endpoint.comeBack()
}

/** Longer than the time after which a notice is due, because closing and opening the port take time as well. */
const OUTAGE_MS = LONG_MS + 1_000
/** An endpoint that gets nothing after its return is found by the reconciliation. */
const RETURN_WITHIN_MS = 20_000

/** First the endpoint gets something, so that the previous outage has ended and a new one begins. */
async function leaveForLong(endpoint: RunningEndpoint, notebook: Notebook): Promise<void> {
  await Promise.race([notebook.newEventArrives(endpoint.behaviour.name), sleep(RETURN_WITHIN_MS)])
  await endpoint.leave()
  await sleep(OUTAGE_MS)
  await endpoint.comeBack()
}
