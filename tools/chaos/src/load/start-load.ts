import { createRandom } from '../faults/random.ts'
import type { AcceptedCall, Endpoint, Observation } from '../reconcile/observation.ts'
import { countMessages } from '../stack/broker-management.ts'
import { BEHAVIOURS, type Behaviour } from '../subscribers/behaviour.ts'
import { type Subscribers, startSubscribers } from '../subscribers/subscribers.ts'
import { startCalls } from './calls.ts'
import { type Client, openClient } from './client.ts'
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
  notReady(): Promise<readonly string[]>
}

/** Calls and events of another platform, and the subscribers that receive them. */
export interface Load {
  readonly client: Client
  readonly subscribers: Subscribers
  /** Ids of the events of the other platform that the broker has confirmed so far. */
  readonly confirmed: readonly string[]
  /** Calls that the api has accepted so far. */
  readonly calls: readonly AcceptedCall[]
  /** Publishes a batch of this many events of the other platform twice at the same moment, in the background. */
  burst(events: number): void
  /** Publishes that were repeated because no confirm came. */
  repeatedPublishes(): number
  /** Resolves when the healthy endpoint gets an event of the other platform that occurred after this call. */
  newEventArrives(): Promise<void>
  /** Makes no new calls and events. Resolves when the open ones have ended. */
  stop(): Promise<void>
  /** What was recorded until now. The caller adds what it did itself. */
  observe(): Promise<Observation>
  /** Stops the load and closes the subscribers' endpoints. */
  close(): Promise<void>
}

export interface LoadOptions {
  readonly seed: number
  readonly openPublisher: () => Promise<EventPublisher>
  /** The endpoints whose subscriptions last for the whole run; by default all of `BEHAVIOURS`. */
  readonly behaviours?: readonly Behaviour[]
}

/** Creates the subscriptions, then starts the load. */
export async function startLoad(
  target: LoadTarget,
  { seed, openPublisher, behaviours = BEHAVIOURS }: LoadOptions,
): Promise<Load> {
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
    confirmed: events.confirmed,
    calls: calls.accepted,
    burst: (count) => events.burst(count),
    repeatedPublishes: () => events.repeats(),
    newEventArrives: () => received.newEventArrives('healthy'),
    stop,
    observe: async () => ({
      endpoints,
      guests: guest.names,
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
    close: async () => {
      // After an error, the timers of the load would keep the process alive.
      await stop()
      expiries.stop()
      await subscribers.close()
    },
  }
}
