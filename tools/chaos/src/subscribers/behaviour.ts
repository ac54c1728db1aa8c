import { crc32 } from 'node:zlib'

/** How an endpoint answers, and when. */
interface Reaction {
  readonly status: number
  readonly delayMs: number
}

export interface Behaviour {
  readonly name: string
  readonly eventTypes: readonly string[]
  /** It is away now and then: nobody listens on its port. */
  readonly isAwayAtTimes: boolean
  /** Until it is repaired it rejects everything. */
  readonly isBrokenAtFirst?: true
  readonly react: (seed: number, post: { readonly deliveryId: string; readonly attempt: number }) => Reaction
}

/** A recovery sends again what was parked for this endpoint. */
export const BROKEN_AT_FIRST = 'broken at first'
/** The endpoint that the fault `exhaust` takes away; a recovery sends again what was parked for it meanwhile. */
export const DEAD_FOR_LONG = 'dead for long'
/** The endpoint whose subscription the faults `patch` and `delete` change. Nothing is owed to it while it changes. */
export const GUEST = 'guest'

const BOTH = ['call.status', 'agent.status']
const WELL: Reaction = { status: 204, delayMs: 0 }
const NOTICES = ['webhook.endpoint.failing', 'webhook.endpoint.recovered', 'webhook.delivery.parked']
/** An attempt that is surely made while the schedule lasts: what fails until then is never exhausted. */
const LAST_FAILURE = 3

/** From 0 to below 1; the same for the same seed and name, in whatever order they come. */
const chance = (seed: number, name: string): number => crc32(`${seed} ${name}`) / 2 ** 32

const failsAtTimes: Behaviour['react'] = (seed, { deliveryId, attempt }) =>
  attempt <= LAST_FAILURE && chance(seed, `${deliveryId} ${attempt}`) < 0.15 ? { ...WELL, status: 503 } : WELL

/** Its retries are due after its subscription has gone: they have to arrive all the same. */
export const GUEST_BEHAVIOUR: Behaviour = {
  name: GUEST,
  eventTypes: BOTH,
  isAwayAtTimes: false,
  react: failsAtTimes,
}

/** Of the subscriptions that last for the whole run. */
export const BEHAVIOURS: readonly Behaviour[] = [
  { name: 'well', eventTypes: BOTH, isAwayAtTimes: false, react: () => WELL },
  { name: 'failing at times', eventTypes: BOTH, isAwayAtTimes: false, react: failsAtTimes },
  {
    name: 'slow',
    eventTypes: ['call.status'],
    isAwayAtTimes: false,
    react: (seed, { deliveryId, attempt }) => ({
      status: 200,
      delayMs: 200 + Math.floor(300 * chance(seed, `${deliveryId} ${attempt}`)),
    }),
  },
  { name: 'away at times', eventTypes: BOTH, isAwayAtTimes: true, react: () => WELL },
  // Agents change their state less often than calls do: a backlog of a minute stays small.
  { name: DEAD_FOR_LONG, eventTypes: ['agent.status'], isAwayAtTimes: false, react: () => WELL },
  {
    name: BROKEN_AT_FIRST,
    eventTypes: ['call.status'],
    isAwayAtTimes: false,
    isBrokenAtFirst: true,
    react: () => WELL,
  },
  {
    name: 'rejecting some',
    eventTypes: BOTH,
    isAwayAtTimes: false,
    // Of a delivery, not of an attempt: one that was rejected is rejected however often it comes.
    react: (seed, { deliveryId }) => (chance(seed, deliveryId) < 0.05 ? { ...WELL, status: 400 } : WELL),
  },
  { name: 'ops', eventTypes: NOTICES, isAwayAtTimes: false, react: () => WELL },
  {
    name: 'ops, rejecting some',
    eventTypes: NOTICES,
    isAwayAtTimes: false,
    // What becomes of a notice makes none: so some of them have to end parked.
    react: (seed, { deliveryId }) => (chance(seed, deliveryId) < 0.2 ? { ...WELL, status: 400 } : WELL),
  },
]
