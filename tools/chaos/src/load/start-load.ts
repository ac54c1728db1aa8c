import { eventually } from '@switchhook/testkit'
import { createRandom } from '../faults/random.ts'
import type { Endpoint, Observation } from '../reconcile/observation.ts'
import { countMessages } from '../stack/broker-management.ts'
import { BEHAVIOURS, type Behaviour } from '../subscribers/behaviour.ts'
import { startSubscribers } from '../subscribers/subscribers.ts'
import { startCalls } from './calls.ts'
import { openClient } from './client.ts'
import { startExpiries } from './expiries.ts'
import { type EventPublisher, startPlatformEvents } from './platform-events.ts'
import { listParked } from './recoveries.ts'

/** The services under load. */
export interface LoadTarget {
  /** Base urls of the api replicas. */
  apis(): readonly string[]
  readonly devIdp: string
  managementUrl(): string
  /** Services whose `/readyz` does not answer 200. */
  readonly notReady: () => Promise<readonly string[]>
}

/** Resolves when every service is ready. @throws with the names of those that are not */
export const everyServiceIsReady = ({ notReady }: Pick<LoadTarget, 'notReady'>, timeoutMs: number): Promise<void> =>
  eventually(
    async () => {
      const names = await notReady()
      if (names.length > 0) throw new Error(`not ready: ${names.join(', ')}`)
    },
    { timeoutMs },
  )

export type Load = Awaited<ReturnType<typeof startLoad>>

export interface LoadOptions {
  readonly seed: number
  readonly openPublisher: () => Promise<EventPublisher>
  /** The endpoints whose subscriptions last for the whole run; by default all of `BEHAVIOURS`. */
  readonly behaviours?: readonly Behaviour[]
}

/** Creates the subscriptions, then starts the load: calls, and events of another platform. */
export async function startLoad(target: LoadTarget, { seed, openPublisher, behaviours = BEHAVIOURS }: LoadOptions) {
  const client = await openClient(() => target.apis(), target.devIdp, createRandom(seed))
  const subscribers = await startSubscribers(client, seed, behaviours)
  const { received, subscriptions, guest } = subscribers
  const publisher = await openPublisher().catch(async (error: unknown) => {
    await subscribers.close()
    throw error
  })
  const endpoints = behaviours.map(
    ({ name, eventTypes, mode, passes, expireAfterSeconds }): Endpoint => ({
      name,
      eventTypes,
      isPulled: mode === 'pull',
      passes,
      ...(expireAfterSeconds !== undefined && { expiresAfterMs: expireAfterSeconds * 1_000 }),
      subscriptionId: subscribers.subscriptionOf(name),
    }),
  )
  const events = startPlatformEvents(publisher, (eventId) => received.hasArrived('healthy', eventId))
  const calls = startCalls(client, (call) => received.callArrives('healthy', call))
  const expiries = startExpiries(client, received.posts, endpoints)
  let stopping: Promise<unknown> | undefined
  const stop = async (): Promise<void> => {
    stopping ??= Promise.all([events.stop(), calls.stop()])
    await stopping
  }
  return {
    client,
    subscribers,
    events,
    /** Resolves when the healthy endpoint gets an event of the other platform that occurred after this call. */
    newEventArrives: (): Promise<void> => received.newEventArrives('healthy'),
    /** Makes no new calls and events. Resolves when the open ones have ended. */
    stop,
    /** What was recorded until now. The caller adds what it did itself. */
    observe: async (): Promise<Observation> => ({
      endpoints,
      guests: guest.names(),
      closures: subscribers.closures(),
      confirmed: events.confirmed,
      publishes: events.publishes,
      calls: calls.accepted,
      parked: (
        await Promise.all(
          subscriptions.map(({ endpoint, subscriptionId }) => listParked(client, endpoint, subscriptionId)),
        )
      ).flat(),
      posts: received.posts,
      expired: await expiries.look(),
      recoveries: [],
      wrongClocks: [],
      disturbances: [],
      messageCopies: [],
      eventCopies: [],
      lapses: [],
      brokerLosses: [],
      outages: subscribers.outages(),
      receivers: [],
      left: await countMessages(target.managementUrl()),
      notReady: await target.notReady(),
    }),
    /** Stops the load and closes the subscribers' endpoints. */
    close: async (): Promise<void> => {
      // After an error, the timers of the load would keep the process alive.
      await stop()
      expiries.stop()
      await subscribers.close()
    },
  }
}
