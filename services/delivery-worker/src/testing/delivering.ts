import type { Delivery, Outcome } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import type { Reading } from '../endpoint/admit.ts'
import { createIsolation, type Isolated, type IsolationDeps } from '../endpoint/isolation.ts'
import type { HeldVisitsDeps } from '../held/visit-held.ts'
import type { Posted } from '../http/post-under-lease.ts'
import { notifyAll } from '../observers/observer.ts'
import { createPipeline, type PipelineDeps } from '../pipeline/pipeline.ts'
import type { Withheld } from '../policy/decide.ts'

export const HEALTHY: EndpointHealth = { state: 'closed', consecutiveFailures: 0, openUntilMs: null, recentHangs: 0 }
export const ok: Outcome = { kind: 'delivered', status: 200 }
export const down: Outcome = { kind: 'unreachable', reason: 'refused' }

/** The admission to a healthy endpoint of a delivery, or the reason to withhold it, under a lease that does not end. */
export const aReading = (due: Delivery | Withheld, change: Partial<Reading> = {}): Reading => ({
  admission: 'kind' in due ? due : { kind: 'admitted', delivery: due },
  health: HEALTHY,
  trustedUntilMs: Infinity,
  ...change,
})

/** The admission of every delivery, with the breaker of its endpoint in this state. */
export const admitIn =
  (state: EndpointHealth['state']): PipelineDeps['admit'] =>
  async (delivery) =>
    aReading(delivery, { health: { ...HEALTHY, state } })

/** Of a store that records everything. */
export const WRITTEN = { kind: 'written' } as const

export const posted = (delivery: Delivery, outcome: Outcome, durationMs = 0): Posted => ({
  kind: 'posted',
  delivery,
  outcome,
  durationMs,
})

/** A breaker that this worker holds no probe of. */
export const aBreaker = (change: Partial<PipelineDeps['breaker']> = {}): PipelineDeps['breaker'] => ({
  isFailing: () => false,
  claimProbe: async () => undefined,
  giveUpProbe: async () => {},
  record: async () => {},
  ...change,
})

/** A delivery whose POST counts nowhere. */
export const uncounted = (): Pick<Isolated, 'writing' | 'posted'> => ({ writing: () => () => {}, posted: () => {} })

/** The isolation of a worker with 16 lanes; each subscription has more turns than a test takes. */
export const anIsolation = (change: Partial<IsolationDeps> = {}) =>
  createIsolation({
    turns: { least: 1_000, most: 1_000, beyondLeast: 0 },
    mostHanging: 1_000,
    patienceMs: 1,
    publishToLane: async () => {},
    nowMs: () => 0,
    ...change,
  })

/** A pipeline's dependencies, with those of its store and its broker beside the others. */
export type FlatDeps = Omit<PipelineDeps, 'deliveries' | 'broker'> & PipelineDeps['deliveries'] & PipelineDeps['broker']

/** The dependencies of a worker whose deliveries are admitted and acknowledged. Its schedule is one wait of 10 s. */
export function pipelineDeps(change: Partial<FlatDeps> = {}): PipelineDeps {
  const {
    isSettled = async () => false,
    settle = async () => WRITTEN,
    publishRetry = async () => {},
    ...others
  } = change
  return {
    scheduleOf: () => ({ waitsMs: [10_000], cooldownMs: 30_000 }),
    keep: () => true,
    isolation: anIsolation(),
    deliveries: { isSettled, settle },
    broker: { publishRetry },
    admit: admitIn('closed'),
    breaker: aBreaker(),
    post: async (delivery) => posted(delivery, ok),
    postLimits: { withPermits: (limited, _delivery, _isProbe, post) => post(limited && (async () => Infinity)) },
    observer: notifyAll([]),
    afterSettled: [],
    redisNow: Date.now,
    nowMs: () => 0,
    ...others,
  }
}

/** What held deliveries need of a worker that settles and parks nothing for real. */
export const heldParts = (): Pick<HeldVisitsDeps, 'conclude' | 'heldLimit' | 'notices' | 'redisNow'> => ({
  conclude: createPipeline(pipelineDeps()).conclude,
  heldLimit: { parkExcess: async () => {}, listAgain: async () => {} },
  notices: { noticeIfParked: async () => {}, noticeHeldLimit: async () => {} },
  redisNow: Date.now,
})

/** An isolation whose subscriptions have one turn each. */
export function oneTurn() {
  const toLane: Delivery[] = []
  const isolation = anIsolation({
    turns: { least: 1, most: 1, beyondLeast: 0 },
    publishToLane: async (delivery) => void toLane.push(delivery),
  })
  let taken: Isolated | undefined
  return {
    isolation,
    toLane,
    /** Takes the turn of the delivery's subscription until `free` is called. */
    take: (delivery: Delivery): void => {
      taken = isolation.enter(delivery, 'due')
      void taken.waitForTurn('turn')
    },
    free: () => taken?.leave(),
  }
}
