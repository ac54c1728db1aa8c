import { BEHAVIOURS, DOWN_FOR_LONG, GUEST, PAUSED_AT_TIMES } from '../subscribers/behaviour.ts'
import { createRandom, type Random } from './random.ts'

export type Service = 'api' | 'fanout' | 'delivery-worker'
export type Backing = 'rabbitmq' | 'redis'

export const REPLICAS: Readonly<Record<Service, number>> = { api: 2, fanout: 2, 'delivery-worker': 3 }

const EVERYTHING = 'everything'
const BACKLOGS = 'fanout.backlog'
const ENDPOINTS_TO_ROTATE = ['healthy', 'flaky', 'slow'] as const

/** `target` names a process of the stack, a queue, or an endpoint. */
export type Fault =
  | { readonly kind: 'kill'; readonly target: string }
  /** `kill -9` of the broker, Redis and every service at the same moment. */
  | { readonly kind: 'blackout'; readonly target: typeof EVERYTHING }
  /** SIGTERM, then a restart. */
  | { readonly kind: 'stop'; readonly target: string }
  /** Resets every connection to the target. */
  | { readonly kind: 'cut'; readonly target: Backing }
  /** Connections to the target stay open, but no byte passes. */
  | { readonly kind: 'freeze'; readonly target: Backing; readonly forMs: number }
  /** A memory alarm: the broker blocks every publisher. */
  | { readonly kind: 'alarm'; readonly target: 'rabbitmq'; readonly forMs: number }
  /** The broker closes one client's connection. `pick` chooses among those that are open, modulo their number. */
  | { readonly kind: 'disconnect'; readonly target: 'rabbitmq'; readonly pick: number }
  /** The broker cancels every consumer of this queue, because the queue is deleted. */
  | { readonly kind: 'cancel'; readonly target: string }
  /** Redis refuses every write that needs memory. */
  | { readonly kind: 'full'; readonly target: 'redis'; readonly forMs: number }
  /** Redis is killed and comes back from a copy of its folder that is `ageMs` old. */
  | { readonly kind: 'rollback'; readonly target: 'redis'; readonly ageMs: number }
  /** Redis is killed and comes back without data for `forMs`; then its folder is restored. */
  | { readonly kind: 'empty'; readonly target: 'redis'; readonly forMs: number }
  /** Restarts a process with a clock that is `shiftMs` ahead. */
  | { readonly kind: 'clock'; readonly target: string; readonly shiftMs: number; readonly forMs: number }
  /** Rotates the signing secret of an endpoint's subscription. */
  | { readonly kind: 'rotate'; readonly target: string; readonly overlapSeconds: number }
  /** Disables the guest's subscription, or removes `call.status` from it, for `forMs`. */
  | {
      readonly kind: 'patch'
      readonly target: typeof GUEST
      readonly change: 'enabled' | 'eventTypes'
      readonly forMs: number
    }
  /** Deletes the guest's subscription and creates a new one. */
  | { readonly kind: 'delete'; readonly target: typeof GUEST }
  /** Takes an endpoint down for longer than the whole schedule. */
  | { readonly kind: 'exhaust'; readonly target: typeof DOWN_FOR_LONG }
  /** Pauses an endpoint's subscription for `forMs`. */
  | { readonly kind: 'pause'; readonly target: typeof PAUSED_AT_TIMES; readonly forMs: number }
  /** The tenant publishes a burst of events, and all of them twice, so that fan-out stores them in a backlog. */
  | { readonly kind: 'burst'; readonly target: typeof BACKLOGS; readonly events: number }

export type FaultKind = Fault['kind']
type FaultOf<Kind extends FaultKind> = Extract<Fault, { readonly kind: Kind }>

/**
 * Whether a fault can leave two copies of a message: a process dies, or loses its connection to the broker. Of an event that
 * was published twice, both copies publish a retry if Redis refuses the write by which the ledger would drop one of them.
 * During a memory alarm the broker holds publishes up: what it confirms too late is published again, and the first copy can
 * fall due before the ledger names the second. A worker whose consumer is cancelled closes its connection, so the broker
 * gives the attempts that it still makes to the other workers.
 */
export const leavesCopies = ({ kind, target }: Fault): boolean =>
  ['alarm', 'blackout', 'cancel', 'disconnect', 'rollback', 'empty', 'full'].includes(kind) ||
  (kind === 'kill' && !target.startsWith('api')) ||
  (['cut', 'freeze'].includes(kind) && target === 'rabbitmq')

/**
 * Whether a fault can leave two copies of an event or of a first message. An api that dies, or loses Redis, after the broker
 * has confirmed an event and before the event is marked as sent publishes it again. Fan-out without Redis returns an event
 * that another replica then handles again.
 */
export const leavesEventCopies = (fault: Fault): boolean =>
  leavesCopies(fault) || ['kill', 'cut', 'freeze'].includes(fault.kind)

export const killsWorker = ({ kind, target }: Fault): boolean => kind === 'kill' && target.startsWith('delivery-worker')

export interface PlannedFault {
  readonly fault: Fault
  /** Strikes before the recovery from the previous fault has ended. */
  readonly overlaps: boolean
  /** Counted from the previous fault if this one overlaps, otherwise from the recovery. */
  readonly pauseMs: number
}

const OVERLAPS_PART = 0.25

/** Only receiver checks use this queue, and the load makes none. It is empty, so deleting it loses nothing. */
const CHECKS_QUEUE = 'delivery.checks'

type Draw = { readonly [K in FaultKind]: readonly ((random: Random) => FaultOf<K>)[] }

/**
 * An api stamps events and checks tokens. Its tokens are issued by a true clock, with a leeway of 5 s. The reconciliation
 * compares event times with the losses of later faults, and only 2 s are over again when the next fault strikes.
 */
const SHIFT_MS = { api: { least: 1_000, most: 2_000 }, 'delivery-worker': { least: 5_000, most: 25_000 } }

/** The faults to draw from. A kind with several entries is drawn that many times as often. */
const DRAW: Draw = {
  kill: [
    ...(['delivery-worker', 'delivery-worker', 'fanout', 'fanout', 'api', 'api'] as const).map(
      (service) => (random: Random) => ({ kind: 'kill' as const, target: replica(random, service) }),
    ),
    () => ({ kind: 'kill', target: 'rabbitmq' }),
    () => ({ kind: 'kill', target: 'redis' }),
  ],
  stop: [(random) => ({ kind: 'stop', target: replica(random, random.pick(['api', 'fanout', 'delivery-worker'])) })],
  cut: [() => ({ kind: 'cut', target: 'rabbitmq' }), () => ({ kind: 'cut', target: 'redis' })],
  freeze: [
    (random) => ({ kind: 'freeze', target: 'rabbitmq', forMs: random.between(1_000, 6_000) }),
    (random) => ({ kind: 'freeze', target: 'redis', forMs: random.between(1_000, 8_000) }),
  ],
  blackout: [() => ({ kind: 'blackout', target: EVERYTHING })],
  alarm: [(random) => ({ kind: 'alarm', target: 'rabbitmq', forMs: random.between(1_000, 4_000) })],
  disconnect: [(random) => ({ kind: 'disconnect', target: 'rabbitmq', pick: random.between(0, 999) })],
  cancel: [() => ({ kind: 'cancel', target: CHECKS_QUEUE })],
  full: [(random) => ({ kind: 'full', target: 'redis', forMs: random.between(1_000, 5_000) })],
  rollback: [(random) => ({ kind: 'rollback', target: 'redis', ageMs: random.between(500, 3_000) })],
  empty: [(random) => ({ kind: 'empty', target: 'redis', forMs: random.between(1_000, 4_000) })],
  clock: [
    (random) => {
      const service = random.pick(['api', 'delivery-worker'] as const)
      return {
        kind: 'clock',
        target: replica(random, service),
        shiftMs: random.pick([-1, 1]) * random.between(SHIFT_MS[service].least, SHIFT_MS[service].most),
        forMs: random.between(1_000, 3_000),
      }
    },
  ],
  rotate: [
    (random) => ({ kind: 'rotate', target: random.pick(ENDPOINTS_TO_ROTATE), overlapSeconds: random.between(10, 40) }),
  ],
  patch: [
    (random) => ({
      kind: 'patch',
      target: GUEST,
      change: random.pick(['enabled', 'eventTypes']),
      forMs: random.between(500, 1_500),
    }),
  ],
  delete: [() => ({ kind: 'delete', target: GUEST })],
  exhaust: [() => ({ kind: 'exhaust', target: DOWN_FOR_LONG })],
  burst: [(random) => ({ kind: 'burst', target: BACKLOGS, events: random.between(100, 200) })],
  pause: [(random) => ({ kind: 'pause', target: PAUSED_AT_TIMES, forMs: random.between(1_000, 8_000) })],
}

export const FAULT_KINDS = Object.keys(DRAW) as FaultKind[]

const ENDPOINT_NAMES: readonly string[] = BEHAVIOURS.map(({ name }) => name)

/**
 * Plans the faults and their times from the seed alone. A longer plan begins with the shorter one. Faults are drawn from a
 * bag that is refilled only when it is empty, so even a short plan has many kinds.
 * @param kinds the kinds to draw from
 */
export function planFaults(
  seed: number,
  count: number,
  kinds: readonly FaultKind[] = FAULT_KINDS,
): readonly PlannedFault[] {
  const random = createRandom(seed)
  const all: readonly ((random: Random) => Fault)[] = FAULT_KINDS.filter((kind) => kinds.includes(kind)).flatMap(
    (kind): readonly ((random: Random) => Fault)[] => DRAW[kind],
  )
  const plan: PlannedFault[] = []
  let bag: ((random: Random) => Fault)[] = []
  while (plan.length < count) {
    if (bag.length === 0) bag = [...all]
    const [make] = bag.splice(random.between(0, bag.length - 1), 1)
    if (make === undefined) break
    const fault = make(random)
    const before = plan.at(-1)
    const wouldOverlap = random.next() < OVERLAPS_PART
    // At most two faults overlap, and never on the same target, so that every fault finds its target running.
    const mayOverlap = before !== undefined && !before.overlaps && !touches(before.fault, fault)
    const overlaps = wouldOverlap && mayOverlap
    plan.push({ fault, overlaps, pauseMs: overlaps ? random.between(100, 1_500) : random.between(100, 600) })
  }
  return plan
}

/**
 * Kinds that never overlap. A restored Redis loses changes of subscriptions; any process that starts during `clock` would
 * get the shifted clock; a broker that is killed while a queue is redeclared may lose the queue.
 */
const ALONE: readonly FaultKind[] = ['rollback', 'empty', 'clock', 'cancel']

const touches = (one: Fault, other: Fault): boolean =>
  one.target === other.target || [one, other].some(({ kind, target }) => target === EVERYTHING || ALONE.includes(kind))

const replica = (random: Random, service: Service): string => `${service}-${random.between(1, REPLICAS[service])}`

const DESCRIPTIONS: { readonly [Kind in FaultKind]: (fault: FaultOf<Kind>) => string } = {
  kill: ({ target }) => `kill -9 ${target}`,
  blackout: () => 'kill -9 of everything together',
  stop: ({ target }) => `SIGTERM ${target}`,
  cut: ({ target }) => `connections to ${target} cut`,
  freeze: ({ target, forMs }) => `connections to ${target} frozen for ${seconds(forMs)}`,
  alarm: ({ target, forMs }) => `memory alarm on ${target} for ${seconds(forMs)}`,
  disconnect: () => 'rabbitmq closes one connection',
  cancel: ({ target }) => `rabbitmq cancels the consumers of ${target}`,
  full: ({ forMs }) => `redis full for ${seconds(forMs)}`,
  rollback: ({ ageMs }) => `redis restored from a copy for ${seconds(ageMs)} of lost writes`,
  empty: ({ forMs }) => `redis empty for ${seconds(forMs)}`,
  clock: ({ target, forMs, shiftMs }) => `clock of ${target} off for ${seconds(forMs)}, by ${seconds(shiftMs)}`,
  rotate: ({ target }) => `secret of ${target} rotated`,
  patch: ({ change, forMs }) =>
    `${change === 'enabled' ? 'subscription disabled' : 'event type removed'} for ${seconds(forMs)}`,
  delete: () => 'subscription deleted',
  exhaust: () => 'endpoint down for longer than the schedule',
  burst: ({ events }) => `burst of ${events} events, twice`,
  pause: ({ forMs }) => `subscription paused for ${seconds(forMs)}`,
}

/** Describes a fault for the log and the report. */
export const describeFault = (fault: Fault): string =>
  // The kind ties a fault to its description, which the compiler cannot see for a union.
  (DESCRIPTIONS[fault.kind] as (fault: Fault) => string)(fault)

/** The name under which the report groups faults: without replica, duration and endpoint. */
export const nameOfKind = (fault: Fault): string =>
  describeFault(fault)
    .replace(/ for \d.*$/, '')
    .replace(/ of \d+ events.*$/, '')
    .replace(/-\d+( off)?$/, '$1')
    .replace(new RegExp(`secret of (${ENDPOINT_NAMES.join('|')})`), 'secret')

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
