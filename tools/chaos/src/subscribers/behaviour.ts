import { crc32 } from 'node:zlib'
import { CallState, type SubscriptionFilter } from '@switchhook/contracts'

/** How an endpoint answers, and when. */
interface Reaction {
  readonly status: number
  readonly delayMs: number
}

export interface Behaviour {
  readonly name: string
  readonly eventTypes: readonly string[]
  /** Passes the ends of calls alone. */
  readonly filter?: SubscriptionFilter
  /** Now and then the endpoint closes its port for some seconds. */
  readonly isSometimesDown: boolean
  /** Rejects everything until `repair()`. */
  readonly isBrokenAtFirst?: true
  readonly react: (seed: number, post: { readonly deliveryId: string; readonly attempt: number }) => Reaction
}

/** A recovery sends this endpoint's parked deliveries again. */
export const BROKEN_AT_FIRST = 'broken at first'
/** The fault `exhaust` takes this endpoint down; a recovery then sends its exhausted deliveries again. */
export const DOWN_FOR_LONG = 'down for long'
/** The faults `patch` and `delete` change this endpoint's subscription. Meanwhile no event has to reach it. */
export const GUEST = 'guest'

const BOTH = ['call.status', 'agent.status']
const HEALTHY: Reaction = { status: 204, delayMs: 0 }
const NOTICES = ['webhook.endpoint.failing', 'webhook.endpoint.recovered', 'webhook.delivery.parked']
/** The last attempt that may fail. Later slots succeed, so these failures never exhaust a delivery. */
const LAST_FAILURE = 3

/** From 0 to below 1. Depends on the seed and the name only, not on the order of calls. */
const chance = (seed: number, name: string): number => crc32(`${seed} ${name}`) / 2 ** 32

const failsSometimes: Behaviour['react'] = (seed, { deliveryId, attempt }) =>
  attempt <= LAST_FAILURE && chance(seed, `${deliveryId} ${attempt}`) < 0.15 ? { ...HEALTHY, status: 503 } : HEALTHY

/** Its retries fall due after the subscription was deleted, and must still arrive. */
export const GUEST_BEHAVIOUR: Behaviour = {
  name: GUEST,
  eventTypes: BOTH,
  isSometimesDown: false,
  react: failsSometimes,
}

/** The endpoints whose subscriptions last for the whole run. */
export const BEHAVIOURS: readonly Behaviour[] = [
  { name: 'healthy', eventTypes: BOTH, isSometimesDown: false, react: () => HEALTHY },
  { name: 'flaky', eventTypes: BOTH, isSometimesDown: false, react: failsSometimes },
  {
    name: 'slow',
    eventTypes: ['call.status'],
    isSometimesDown: false,
    react: (seed, { deliveryId, attempt }) => ({
      status: 200,
      delayMs: 200 + Math.floor(300 * chance(seed, `${deliveryId} ${attempt}`)),
    }),
  },
  { name: 'sometimes down', eventTypes: BOTH, isSometimesDown: true, react: () => HEALTHY },
  // Agents change state less often than calls do, so the backlog of a minute stays small.
  { name: DOWN_FOR_LONG, eventTypes: ['agent.status'], isSometimesDown: false, react: () => HEALTHY },
  {
    name: BROKEN_AT_FIRST,
    eventTypes: ['call.status'],
    isSometimesDown: false,
    isBrokenAtFirst: true,
    react: () => HEALTHY,
  },
  {
    name: 'rejecting some',
    eventTypes: BOTH,
    isSometimesDown: false,
    // Chosen by delivery, not by attempt: every attempt of a rejected delivery is rejected.
    react: (seed, { deliveryId }) => (chance(seed, deliveryId) < 0.05 ? { ...HEALTHY, status: 400 } : HEALTHY),
  },
  {
    name: 'filtered',
    eventTypes: ['call.status'],
    filter: { 'call.status': { state: [CallState.ended] } },
    isSometimesDown: false,
    react: failsSometimes,
  },
  { name: 'ops', eventTypes: NOTICES, isSometimesDown: false, react: () => HEALTHY },
  {
    name: 'ops, rejecting some',
    eventTypes: NOTICES,
    isSometimesDown: false,
    // A parked notice must not cause another notice, so some notices have to be parked.
    react: (seed, { deliveryId }) => (chance(seed, deliveryId) < 0.2 ? { ...HEALTHY, status: 400 } : HEALTHY),
  },
]
