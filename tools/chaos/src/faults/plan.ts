import { Queue } from '@switchhook/messaging'
import type { Disturbance } from '../reconcile/observation.ts'
import { REFUSALS } from '../stack/redis-refusals.ts'
import { BEHAVIOURS, DOWN_FOR_LONG, GUEST, PAUSED_AT_TIMES } from '../subscribers/behaviour.ts'
import { createRandom, type Random } from './random.ts'

export type Service = 'api' | 'fanout' | 'delivery-worker'
export type Backing = 'rabbitmq' | 'redis'

export const REPLICAS: Readonly<Record<Service, number>> = { api: 2, fanout: 2, 'delivery-worker': 3 }

const EVERYTHING = 'everything'
const BACKLOGS = 'fanout.backlog'
const ENDPOINTS_TO_ROTATE = ['healthy', 'flaky', 'slow'] as const

/**
 * Queues that can be deleted without a loss. The load makes no receiver checks; a lost batch of outcomes is recorded by a
 * look; and packets of deliveries are made by fan-out alone, which the fault stops until the queue is empty.
 */
const DELETABLE_QUEUES = [Queue.receiverChecks, Queue.reportedOutcomes, Queue.deliveryPackets] as const

/** A clock that is more than a minute off makes a process unfit. An api whose clock is over 5 s behind refuses new tokens. */
const SHIFT_MS = {
  api: { behind: 4_000, ahead: 50_000 },
  fanout: { behind: 50_000, ahead: 50_000 },
  'delivery-worker': { behind: 50_000, ahead: 50_000 },
}
const LEAST_SHIFT_MS = 1_000

/** Longer than each deadline of less than a minute (docs/architecture.md), and than the least `deleteAfterUnusedSeconds`. */
const OUTAGE_MS = { least: 62_000, most: 70_000 }

const replica = (random: Random, service: Service): string => `${service}-${random.between(1, REPLICAS[service])}`

/**
 * The faults to draw from. A kind with several entries is drawn that many times as often. `target` names a process of the
 * stack, a queue, or an endpoint.
 */
const DRAW = {
  kill: [
    ...(['delivery-worker', 'delivery-worker', 'fanout', 'fanout', 'api', 'api'] as const).map(
      (service) => (random: Random) => ({ target: replica(random, service) }),
    ),
    () => ({ target: 'rabbitmq' }),
    () => ({ target: 'redis' }),
  ],
  /** SIGTERM, then a restart. */
  stop: [(random) => ({ target: replica(random, random.pick(['api', 'fanout', 'delivery-worker'])) })],
  /** Resets every connection to the target. */
  cut: [() => ({ target: 'rabbitmq' as const }), () => ({ target: 'redis' as const })],
  /** Connections to the target stay open, but no byte passes. */
  freeze: [
    (random) => ({ target: 'rabbitmq' as const, forMs: random.between(1_000, 6_000) }),
    (random) => ({ target: 'redis' as const, forMs: random.between(1_000, 8_000) }),
  ],
  /** `kill -9` of the broker, Redis and every service at the same moment. */
  blackout: [() => ({ target: EVERYTHING })],
  /** A memory alarm: the broker blocks every publisher. */
  alarm: [(random) => ({ target: 'rabbitmq', forMs: random.between(1_000, 4_000) })],
  /** The broker closes one client's connection. `pick` chooses among those that are open, modulo their number. */
  disconnect: [(random) => ({ target: 'rabbitmq', pick: random.between(0, 999) })],
  /** The broker cancels every consumer of this queue, because the queue is deleted. */
  cancel: [(random) => ({ target: random.pick(DELETABLE_QUEUES) })],
  /** Every replica of a service stands still, or no byte passes between all services and the target. */
  outage: [
    (random) => ({
      target: random.pick(['api', 'fanout', 'delivery-worker', 'rabbitmq', 'redis'] as const),
      forMs: random.between(OUTAGE_MS.least, OUTAGE_MS.most),
    }),
  ],
  /** Redis refuses every write that needs memory. */
  full: [(random) => ({ target: 'redis', forMs: random.between(1_000, 5_000) })],
  /** Redis answers commands with this error. */
  refuse: [(random) => ({ target: 'redis', error: random.pick(REFUSALS), forMs: random.between(1_000, 8_000) })],
  /** Redis is killed and comes back from a copy of its folder that is `ageMs` old. */
  rollback: [(random) => ({ target: 'redis', ageMs: random.between(500, 3_000) })],
  /** Redis is killed and comes back without data for `forMs`; then its folder is restored. */
  empty: [(random) => ({ target: 'redis', forMs: random.between(1_000, 4_000) })],
  /** Restarts a process with a clock that is `shiftMs` ahead. */
  clock: [
    (random) => {
      const service = random.pick(['api', 'fanout', 'delivery-worker'] as const)
      const [sign, direction] = random.pick([
        [-1, 'behind'],
        [1, 'ahead'],
      ] as const)
      return {
        target: replica(random, service),
        shiftMs: sign * random.between(LEAST_SHIFT_MS, SHIFT_MS[service][direction]),
        forMs: random.between(1_000, 3_000),
      }
    },
  ],
  /** Rotates the signing secret of an endpoint's subscription. */
  rotate: [(random) => ({ target: random.pick(ENDPOINTS_TO_ROTATE), overlapSeconds: random.between(10, 40) })],
  /** Disables the guest's subscription, or removes `call.status` from it, for `forMs`. */
  patch: [
    (random) => ({
      target: GUEST,
      change: random.pick(['enabled', 'eventTypes'] as const),
      forMs: random.between(500, 1_500),
    }),
  ],
  /** Deletes the guest's subscription and creates a new one. */
  delete: [() => ({ target: GUEST })],
  /** Takes an endpoint down for longer than the whole schedule. */
  exhaust: [() => ({ target: DOWN_FOR_LONG })],
  /** The tenant publishes a burst of events, and all of them twice, so that fan-out stores them in a backlog. */
  burst: [(random) => ({ target: BACKLOGS, events: random.between(100, 200) })],
  /** Pauses an endpoint's subscription for `forMs`. */
  pause: [(random) => ({ target: PAUSED_AT_TIMES, change: 'paused' as const, forMs: random.between(1_000, 8_000) })],
} satisfies Readonly<Record<string, readonly ((random: Random) => { readonly target: string })[]>>

export type FaultKind = keyof typeof DRAW
export type FaultOf<Kind extends FaultKind> = { readonly kind: Kind } & Readonly<
  ReturnType<(typeof DRAW)[Kind][number]>
>
export type Fault = { readonly [Kind in FaultKind]: FaultOf<Kind> }[FaultKind]

export const FAULT_KINDS = Object.keys(DRAW) as FaultKind[]

/** What a fault excuses. */
export const marksOf = (fault: Fault): Omit<Disturbance, 'fromMs' | 'toMs'> => ({
  duplicatesMessages: leavesDuplicates(fault),
  duplicatesEvents: leavesDuplicates(fault) || leavesDuplicateEvents(fault),
})

/**
 * Whether a fault can leave two duplicates of a message: a process dies, or loses its connection to the broker. Of an event that
 * was published twice, both duplicates publish a retry if Redis refuses the write by which the ledger would drop one of them.
 * During a memory alarm the broker holds publishes up: what it confirms too late is published again, and the first duplicate can
 * fall due before the ledger names the second. A worker whose consumer is cancelled closes its connection, so the broker
 * gives the attempts that it still makes to the other workers. The same happens to a process that stands still.
 */
const leavesDuplicates = ({ kind, target }: Fault): boolean =>
  ['alarm', 'blackout', 'cancel', 'disconnect', 'rollback', 'empty', 'full', 'outage', 'refuse'].includes(kind) ||
  (kind === 'kill' && !target.startsWith('api')) ||
  (['cut', 'freeze'].includes(kind) && target === 'rabbitmq')

/**
 * Whether a fault can leave two duplicates of an event or of a first message. An api that dies, or loses Redis, after the broker
 * has confirmed an event and before the event is marked as sent publishes it again. Fan-out without Redis returns an event
 * that another replica then handles again.
 */
const leavesDuplicateEvents = ({ kind }: Fault): boolean => ['kill', 'cut', 'freeze'].includes(kind)

export const killsWorker = ({ kind, target }: Fault): boolean => kind === 'kill' && target.startsWith('delivery-worker')

export interface PlannedFault {
  readonly fault: Fault
  /** Strikes before the recovery from the previous fault has ended. */
  readonly overlaps: boolean
  /** Counted from the previous fault if this one overlaps, otherwise from the recovery. */
  readonly pauseMs: number
}

const OVERLAPS_PART = 0.25

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
  const all = FAULT_KINDS.filter((kind) => kinds.includes(kind)).flatMap((kind) =>
    DRAW[kind].map((draw: (random: Random) => object) => ({ kind, draw })),
  )
  const plan: PlannedFault[] = []
  let bag: typeof all = []
  while (plan.length < count) {
    if (bag.length === 0) bag = [...all]
    const [drawn] = bag.splice(random.between(0, bag.length - 1), 1)
    if (drawn === undefined) break
    // The kind ties the draw to its fields, which the compiler cannot see for a union.
    const fault = { kind: drawn.kind, ...drawn.draw(random) } as Fault
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
 * get the shifted clock; a broker that is killed while a queue is redeclared may lose the queue; a process that stands still
 * cannot be stopped.
 */
const ALONE: readonly FaultKind[] = ['rollback', 'empty', 'clock', 'cancel', 'outage']

const touches = (one: Fault, other: Fault): boolean =>
  one.target === other.target || [one, other].some(({ kind, target }) => target === EVERYTHING || ALONE.includes(kind))

const DESCRIPTIONS: { readonly [Kind in FaultKind]: (fault: FaultOf<Kind>) => string } = {
  kill: ({ target }) => `kill -9 ${target}`,
  blackout: () => 'kill -9 of everything together',
  stop: ({ target }) => `SIGTERM ${target}`,
  cut: ({ target }) => `connections to ${target} cut`,
  freeze: ({ target, forMs }) => `connections to ${target} frozen for ${seconds(forMs)}`,
  alarm: ({ target, forMs }) => `memory alarm on ${target} for ${seconds(forMs)}`,
  disconnect: () => 'rabbitmq closes one connection',
  cancel: ({ target }) => `rabbitmq cancels the consumers of ${target}`,
  outage: ({ target, forMs }) => `outage of ${target} for ${seconds(forMs)}`,
  full: ({ forMs }) => `redis full for ${seconds(forMs)}`,
  refuse: ({ error, forMs }) => `redis answers ${error} for ${seconds(forMs)}`,
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
  // Likewise, its kind ties a fault to its description.
  (DESCRIPTIONS[fault.kind] as (fault: Fault) => string)(fault)

/** The name under which the report groups faults: without replica, duration and endpoint. */
export const nameOfKind = (fault: Fault): string =>
  describeFault(fault)
    .replace(/ for \d.*$/, '')
    .replace(/ of \d+ events.*$/, '')
    .replace(/-\d+( off)?$/, '$1')
    .replace(new RegExp(`secret of (${ENDPOINT_NAMES.join('|')})`), 'secret')

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
