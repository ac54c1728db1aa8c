import { createRandom, type Random } from './random.ts'

export type Service = 'api' | 'fanout' | 'delivery-worker'
export type Backing = 'rabbitmq' | 'redis'

export const REPLICAS: Readonly<Record<Service, number>> = { api: 2, fanout: 2, 'delivery-worker': 3 }

const EVERYTHING = 'everything'

/** `target` is the name of a process of the stack. */
export type Fault =
  | { readonly kind: 'kill'; readonly target: string }
  /** Broker, Redis and every service, kill -9, in one moment. */
  | { readonly kind: 'blackout'; readonly target: typeof EVERYTHING }
  /** SIGTERM. */
  | { readonly kind: 'stop'; readonly target: string }
  /** Every connection to it is reset. */
  | { readonly kind: 'cut'; readonly target: Backing }
  /** Connections to it stay open, and no byte passes. */
  | { readonly kind: 'freeze'; readonly target: Backing; readonly forMs: number }
  /** A memory alarm: the broker takes nothing from those who publish. */
  | { readonly kind: 'alarm'; readonly target: 'rabbitmq'; readonly forMs: number }

export interface PlannedFault {
  readonly fault: Fault
  /** It strikes while the one before is still being recovered from. */
  readonly overlaps: boolean
  /** Since the one before struck, if it overlaps; since that was recovered from, if not. */
  readonly pauseMs: number
}

const OVERLAPS_PART = 0.25

/** A bag that is emptied before it is filled again: a short plan has some of everything. */
const BAG: readonly ((random: Random) => Fault)[] = [
  (random) => ({ kind: 'kill', target: replica(random, 'delivery-worker') }),
  (random) => ({ kind: 'kill', target: replica(random, 'delivery-worker') }),
  (random) => ({ kind: 'kill', target: replica(random, 'fanout') }),
  (random) => ({ kind: 'kill', target: replica(random, 'fanout') }),
  (random) => ({ kind: 'kill', target: replica(random, 'api') }),
  (random) => ({ kind: 'kill', target: replica(random, 'api') }),
  () => ({ kind: 'kill', target: 'rabbitmq' }),
  () => ({ kind: 'kill', target: 'redis' }),
  (random) => ({ kind: 'stop', target: replica(random, random.pick(['api', 'fanout', 'delivery-worker'])) }),
  () => ({ kind: 'cut', target: 'rabbitmq' }),
  () => ({ kind: 'cut', target: 'redis' }),
  (random) => ({ kind: 'freeze', target: 'rabbitmq', forMs: random.between(1_000, 6_000) }),
  (random) => ({ kind: 'freeze', target: 'redis', forMs: random.between(1_000, 8_000) }),
  () => ({ kind: 'blackout', target: EVERYTHING }),
  (random) => ({ kind: 'alarm', target: 'rabbitmq', forMs: random.between(1_000, 4_000) }),
]

/** What goes wrong, and when: decided by the seed alone. A longer plan begins as the shorter one. */
export function planFaults(seed: number, count: number): readonly PlannedFault[] {
  const random = createRandom(seed)
  const plan: PlannedFault[] = []
  let bag: ((random: Random) => Fault)[] = []
  while (plan.length < count) {
    if (bag.length === 0) bag = [...BAG]
    const [make] = bag.splice(random.between(0, bag.length - 1), 1)
    if (make === undefined) break
    const fault = make(random)
    const before = plan.at(-1)
    const wouldOverlap = random.next() < OVERLAPS_PART
    // Two at a time and never the same part twice, so that what is struck is there to be struck.
    const mayOverlap = before !== undefined && !before.overlaps && !touches(before.fault, fault)
    const overlaps = wouldOverlap && mayOverlap
    plan.push({ fault, overlaps, pauseMs: overlaps ? random.between(100, 1_500) : random.between(200, 1_500) })
  }
  return plan
}

const touches = (one: Fault, other: Fault): boolean =>
  one.target === other.target || one.target === EVERYTHING || other.target === EVERYTHING

const replica = (random: Random, service: Service): string => `${service}-${random.between(1, REPLICAS[service])}`

/** In a few words, for a person. */
export function describeFault(fault: Fault): string {
  switch (fault.kind) {
    case 'kill':
      return `kill -9 ${fault.target}`
    case 'blackout':
      return 'kill -9 of everything at once'
    case 'stop':
      return `SIGTERM ${fault.target}`
    case 'cut':
      return `connections to ${fault.target} cut`
    case 'freeze':
      return `connections to ${fault.target} frozen for ${(fault.forMs / 1_000).toFixed(1)} s`
    case 'alarm':
      return `memory alarm on ${fault.target} for ${(fault.forMs / 1_000).toFixed(1)} s`
  }
}
