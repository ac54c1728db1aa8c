import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../faults/random.ts'
import type { Client } from '../load/client.ts'
import { SCHEDULE_MS } from '../reconcile/check-exhausted.ts'
import { REPORTED_OUTAGE_MS } from '../reconcile/check-notices.ts'
import type { Closure, Endpoint, Outage } from '../reconcile/observation.ts'
import { type Behaviour, DOWN_FOR_LONG, GUEST, GUEST_BEHAVIOUR } from './behaviour.ts'
import { type RunningEndpoint, startEndpoint } from './endpoint.ts'
import { startPuller } from './puller.ts'
import { openReceivedPosts, type ReceivedPosts } from './received-posts.ts'

export type Subscribers = Awaited<ReturnType<typeof startSubscribers>>

/** One endpoint with a subscription for each behaviour, and the guest. */
export async function startSubscribers(client: Client, seed: number, behaviours: readonly Behaviour[]) {
  const received = openReceivedPosts()
  const { note } = received
  const ending = new AbortController()
  const endpoints = await Promise.all(
    behaviours.map((behaviour) =>
      behaviour.mode === 'pull'
        ? startPuller(client, behaviour, seed, note, ending.signal)
        : startEndpoint(client, behaviour, seed, note),
    ),
  )
  const servers = endpoints.filter((endpoint) => 'goDown' in endpoint)
  const pullers = endpoints.filter((endpoint) => 'stop' in endpoint)
  const guests: RunningEndpoint[] = []
  const addGuest = async (): Promise<void> => {
    const name = `${GUEST} ${guests.length + 1}`
    guests.push(await startEndpoint(client, { ...GUEST_BEHAVIOUR, name }, seed, note))
  }
  await addGuest()

  /** The endpoint with this name; of the guests, the present one. */
  function at(wanted: string): RunningEndpoint {
    const endpoint = wanted === GUEST ? guests.at(-1) : servers.find(({ name }) => name === wanted)
    if (endpoint === undefined) throw new Error(`there is no endpoint ${wanted}`)
    return endpoint
  }
  const sometimesDown = servers.filter(({ isSometimesDown }) => isSometimesDown)
  const outages = Promise.all(sometimesDown.map((endpoint) => goDownAtTimes(endpoint, seed, ending.signal)))
  let longOutage: Promise<void> | undefined
  const endOutages = async (): Promise<void> => {
    ending.abort()
    await outages
  }
  return {
    received,
    at,
    /** Without the guest's. */
    endpoints: endpoints as readonly Endpoint[],
    /** Names of all endpoints that the guest has had. */
    guests: (): readonly string[] => guests.map(({ name }) => name),
    outages: (): readonly Outage[] => servers.flatMap((endpoint) => endpoint.outages),
    closures: (): readonly Closure[] => [...servers, ...guests].flatMap((endpoint) => endpoint.closures),
    /** Deletes the guest's subscription and creates another one, which has a new endpoint. */
    replaceGuest: async (): Promise<void> => {
      await at(GUEST).unsubscribe()
      await addGuest()
    },
    /** Takes an endpoint down for longer than the schedule, in the background. Returns false if it is already down. */
    exhaust: (): boolean => {
      if (longOutage !== undefined) return false
      const endpoint = at(DOWN_FOR_LONG)
      const exhausted = received.parkedNoticeArrives(endpoint.subscriptionId, MAX_OUTAGE_MS)
      longOutage = stayDown(endpoint, exhausted, ending.signal).finally(() => (longOutage = undefined))
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
        ...[...servers, ...guests].map((endpoint) => endpoint.goDown()),
        ...pullers.map(({ stop }) => stop()),
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
  await pause(3_000, signal)
  while (!signal.aborted) {
    await endpoint.goDown()
    await pause(random.between(3_000, 9_000), signal)
    await endpoint.comeUp()
    await pause(random.between(SCHEDULE_MS, SCHEDULE_MS + 10_000), signal)
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)

/**
 * The schedule plus the time for which the breaker postpones a last slot. Without other faults, the first deliveries are
 * exhausted by then.
 */
const LONG_OUTAGE_MS = SCHEDULE_MS + 28_000
/** Other faults delay slots. An outage that exhausts nothing in this time is a problem for the reconciliation. */
const MAX_OUTAGE_MS = 4 * LONG_OUTAGE_MS

async function stayDown(endpoint: RunningEndpoint, exhausted: Promise<boolean>, signal: AbortSignal): Promise<void> {
  await endpoint.goDown()
  await Promise.race([Promise.all([pause(LONG_OUTAGE_MS, signal), exhausted]), pause(MAX_OUTAGE_MS, signal)])
  await endpoint.comeUp()
}

/** Longer than an outage that must be reported, because closing and opening the port take time as well. */
const OUTAGE_MS = REPORTED_OUTAGE_MS + 1_000
/** The reconciliation finds an endpoint that gets nothing after this time. */
const RETURN_WITHIN_MS = 20_000

/** Waits for a delivery first, so that the previous outage has ended and a new one begins. */
async function goDownForLong(endpoint: RunningEndpoint, received: ReceivedPosts): Promise<void> {
  await Promise.race([received.newEventArrives(endpoint.name), sleep(RETURN_WITHIN_MS)])
  await endpoint.goDown()
  await sleep(OUTAGE_MS)
  await endpoint.comeUp()
}
