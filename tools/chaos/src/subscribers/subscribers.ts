import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../faults/random.ts'
import type { Client } from '../load/client.ts'
import { SCHEDULE_MS } from '../reconcile/check-exhausted.ts'
import { REPORTED_OUTAGE_MS } from '../reconcile/check-notices.ts'
import type { Closure, Endpoint, Outage } from '../reconcile/observation.ts'
import { type Behaviour, BOTH, DOWN_FOR_LONG, PAUSED_AT_TIMES } from './behaviour.ts'
import { type RunningEndpoint, startEndpoint } from './endpoint.ts'
import { changeFor, startGuest } from './guest.ts'
import { startPuller } from './puller.ts'
import { openReceivedPosts, type ReceivedPosts } from './received-posts.ts'
import { rotateSecret, subscribe } from './subscribe.ts'

export type Subscribers = Awaited<ReturnType<typeof startSubscribers>>

const PAUSE = { change: { paused: true }, undo: { paused: false } }

/** One endpoint with a subscription for each behaviour, and the guest. */
export async function startSubscribers(client: Client, seed: number, behaviours: readonly Behaviour[]) {
  const received = openReceivedPosts()
  const { note } = received
  const ending = new AbortController()
  const servers: RunningEndpoint[] = []
  const stopPullers: (() => Promise<void>)[] = []
  const endpoints = await Promise.all(
    behaviours.map(async (behaviour): Promise<Endpoint> => {
      const { name, eventTypes, mode, filter, headers, expireAfterSeconds } = behaviour
      const endpoint = mode === 'pull' ? undefined : await startEndpoint(behaviour, seed, note)
      const made = { mode, url: endpoint?.url, eventTypes, description: name, filter, headers, expireAfterSeconds }
      const { id, secret } = await subscribe(client, made)
      endpoint?.expect(secret)
      if (endpoint === undefined)
        stopPullers.push(startPuller(client, behaviour, { id, secret }, seed, note, ending.signal))
      else servers.push(endpoint)
      return { ...behaviour, subscriptionId: id }
    }),
  )
  const subscriptionOf = (name: string): string =>
    endpoints.find((endpoint) => endpoint.name === name)?.subscriptionId ?? ''
  const guest = await startGuest(client, seed, note)
  const pauses: Closure[] = []
  const sometimesDown = servers.filter(({ behaviour }) => behaviour.isSometimesDown === true)
  const outages = Promise.all(sometimesDown.map((endpoint) => goDownAtTimes(endpoint, seed, ending.signal)))
  const downForLong = servers.find(({ behaviour }) => behaviour.name === DOWN_FOR_LONG)
  let longOutage: Promise<void> | undefined
  const endOutages = async (): Promise<void> => {
    ending.abort()
    await outages
  }
  return {
    received,
    guest,
    /** Without the guest's. */
    endpoints,
    subscriptionOf,
    /** Repairs every endpoint that is broken at first. */
    repair: (): void => {
      for (const endpoint of servers) endpoint.repair()
    },
    outages: (): readonly Outage[] => servers.flatMap(({ outages }) => outages),
    /** Those of the guest, and those of the pauses. */
    closures: (): readonly Closure[] => [...guest.closures, ...pauses],
    /** Pauses the subscription of `PAUSED_AT_TIMES`. */
    pause: async (forMs: number): Promise<void> => {
      const span = await changeFor(client, subscriptionOf(PAUSED_AT_TIMES), PAUSE, forMs)
      pauses.push({ endpoint: PAUSED_AT_TIMES, eventTypes: BOTH, ...span })
    },
    /** Returns false if too many previous secrets are still active. */
    rotate: async (name: string, overlapSeconds: number): Promise<boolean> => {
      const endpoint = servers.find(({ behaviour }) => behaviour.name === name)
      let isRotated = false
      await endpoint?.rotate(overlapSeconds * 1_000, async () => {
        const secret = await rotateSecret(client, subscriptionOf(name), overlapSeconds)
        isRotated = secret !== undefined
        return secret
      })
      return isRotated
    },
    /** Takes an endpoint down for longer than the schedule, in the background. Returns false if it is already down. */
    exhaust: (): boolean => {
      if (downForLong === undefined || longOutage !== undefined) return false
      const exhausted = received.parkedNoticeArrives(subscriptionOf(DOWN_FOR_LONG), MAX_OUTAGE_MS)
      longOutage = stayDown(downForLong, exhausted, ending.signal).finally(() => (longOutage = undefined))
      return true
    },
    /**
     * Stops the random outages, then takes the same endpoints down long enough for a notice. Resolves when every endpoint
     * is up again.
     */
    lastOutage: async (): Promise<void> => {
      await longOutage
      await endOutages()
      await Promise.all(sometimesDown.map((endpoint) => goDownForLong(endpoint, received)))
    },
    close: async (): Promise<void> => {
      await endOutages()
      await longOutage
      await Promise.all([
        ...servers.map((endpoint) => endpoint.goDown()),
        ...stopPullers.map((stop) => stop()),
        guest.close(),
      ])
    },
  }
}

/**
 * Takes an endpoint down and up again until `signal` aborts, and leaves it up. Each outage is shorter than a third of the
 * retry schedule, and the time until the next one is longer than the schedule: other faults delay slots and lengthen
 * cool-downs, and no delivery may be exhausted because each of its slots fell into one of several outages.
 */
async function goDownAtTimes(endpoint: RunningEndpoint, seed: number, signal: AbortSignal): Promise<void> {
  const random = createRandom(seed)
  const wait = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined)
  await wait(3_000)
  while (!signal.aborted) {
    await endpoint.goDown()
    await wait(random.between(3_000, 9_000))
    await endpoint.comeUp()
    await wait(random.between(SCHEDULE_MS, SCHEDULE_MS + 10_000))
  }
}

/**
 * The schedule plus the time for which the breaker postpones a last slot. Without other faults, the first deliveries are
 * exhausted by then.
 */
const LONG_OUTAGE_MS = SCHEDULE_MS + 28_000
/** Other faults delay slots. An outage that exhausts nothing in this time is a problem for the reconciliation. */
const MAX_OUTAGE_MS = 4 * LONG_OUTAGE_MS

async function stayDown(endpoint: RunningEndpoint, exhausted: Promise<boolean>, signal: AbortSignal): Promise<void> {
  await endpoint.goDown()
  const ended = sleep(MAX_OUTAGE_MS, undefined, { signal, ref: false }).catch(() => undefined)
  const long = sleep(LONG_OUTAGE_MS, undefined, { signal, ref: false }).catch(() => undefined)
  await Promise.race([Promise.all([long, exhausted]), ended])
  await endpoint.comeUp()
}

/** Longer than an outage that must be reported, because closing and opening the port take time as well. */
const OUTAGE_MS = REPORTED_OUTAGE_MS + 1_000
/** The reconciliation finds an endpoint that gets nothing after this time. */
const RETURN_WITHIN_MS = 20_000

/** Waits for a delivery first, so that the previous outage has ended and a new one begins. */
async function goDownForLong(endpoint: RunningEndpoint, received: ReceivedPosts): Promise<void> {
  await Promise.race([received.newEventArrives(endpoint.behaviour.name), sleep(RETURN_WITHIN_MS)])
  await endpoint.goDown()
  await sleep(OUTAGE_MS)
  await endpoint.comeUp()
}
