import { eventually } from '@switchhook/testkit'
import { createRandom } from '../faults/random.ts'
import { type Observation, UNDISTURBED } from '../reconcile/observation.ts'
import { problemsOf } from '../reconcile/problem.ts'
import { settle } from '../reconcile/settle.ts'
import { countMessages } from '../stack/broker-management.ts'
import type { ChaosStack } from '../stack/chaos-stack.ts'
import { BEHAVIOURS } from '../subscribers/behaviour.ts'
import { startSubscribers } from '../subscribers/subscribers.ts'
import { startCalls } from './calls.ts'
import { openClient, type UnusualAnswer } from './client.ts'
import { startExpiries } from './expiries.ts'
import { openConfirmedPublisher, openManagementPublisher, startPlatformEvents } from './platform-events.ts'
import { listParked } from './recoveries.ts'

/**
 * The services under load. Without the URL of the broker, events are published over its management API, so that the
 * load declares no queue of its own version.
 */
export type LoadTarget = Pick<ChaosStack, 'apis' | 'devIdp' | 'managementUrl' | 'notReady'> &
  Partial<Pick<ChaosStack, 'amqpUrl' | 'unexpectedExits'>>

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
export type LoadResult = Awaited<ReturnType<Load['finish']>>

/**
 * Creates the subscriptions, then starts the load: calls, and events of another platform.
 * @param behaviours the endpoints whose subscriptions last for the whole run
 */
export async function startLoad(target: LoadTarget, seed: number, behaviours = BEHAVIOURS) {
  const { amqpUrl } = target
  const publisher =
    amqpUrl === undefined ? openManagementPublisher(target.managementUrl()) : await openConfirmedPublisher(amqpUrl)
  const client = openClient(target.apis, target.devIdp, createRandom(seed))
  const subscribers = await startSubscribers(client, seed, behaviours)
  const { received, endpoints } = subscribers
  const events = startPlatformEvents(publisher, received.hasArrived)
  const calls = startCalls(client, received.callArrives)
  const expiries = startExpiries(client, received.posts, endpoints)
  const startedAt = Date.now()
  let stopping: Promise<unknown> | undefined
  /** Makes no new calls and events. Resolves when the open ones have ended. */
  const stop = async (): Promise<void> => {
    stopping ??= Promise.all([events.stop(), calls.stop()])
    await stopping
  }
  return {
    client,
    subscribers,
    events,
    /** Resolves when the healthy endpoint gets an event of the other platform that occurred after this call. */
    newEventArrives: (): Promise<void> => received.newEventArrives(),
    /**
     * Ends the load, waits for the remaining deliveries, and reconciles every event. Processes that ended without a fault
     * and unusual answers are problems, too.
     * @param isExcused whether a fault explains an unusual answer
     * @param rest what else has to end
     */
    finish: async (
      observe: () => Promise<Observation>,
      isExcused: (answer: UnusualAnswer) => boolean,
      rest: () => Promise<void> = async () => {},
    ) => {
      await subscribers.lastOutage()
      await stop()
      await rest()
      const loadMs = Date.now() - startedAt
      console.log('the load has ended; waiting for the remaining deliveries')
      const reconciliation = await settle(observe)
      const settlingMs = Date.now() - startedAt - loadMs
      const unexpected = client.unusual
        .filter((answer) => !isExcused(answer))
        .map(({ status, request, atMs }) => `${request} was answered ${status} (${new Date(atMs).toISOString()})`)
      const problems = [
        ...problemsOf('process', (await target.unexpectedExits?.()) ?? []),
        ...problemsOf('unexpected answer', unexpected),
        ...reconciliation.problems,
      ]
      return { ...reconciliation, problems, answers: client.answers, loadMs, settlingMs }
    },
    /** What was recorded until now. The caller adds what it did itself. */
    observe: async (): Promise<Observation> => ({
      ...UNDISTURBED,
      endpoints,
      guests: subscribers.guests(),
      closures: subscribers.closures(),
      confirmed: events.confirmed,
      publishes: events.publishes,
      calls: calls.accepted,
      parked: (
        await Promise.all(endpoints.map(({ name, subscriptionId }) => listParked(client, name, subscriptionId)))
      ).flat(),
      posts: received.posts,
      expired: await expiries.look(),
      outages: subscribers.outages(),
      left: await countMessages(target.managementUrl()),
      notReady: await target.notReady(),
    }),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      // After an error, the timers of the load would keep the process alive.
      await stop()
      await expiries.stop()
      await subscribers.close()
    },
  }
}
