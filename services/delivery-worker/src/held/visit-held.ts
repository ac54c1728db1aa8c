import { type Broker, dueQueues, Queue } from '@switchhook/messaging'
import { type Logger, type Poll, startPoll } from '@switchhook/runtime'
import type { Endpoint, HeldStore, HeldVisit } from '@switchhook/store'
import type { EndpointState } from '../endpoint/admit.ts'
import type { PostLimits } from '../limits/post-limits.ts'
import { PUBLISHED_AT_ONCE } from '../limits/publish-held.ts'
import type { Notices } from '../notices/notices.ts'
import { NEXT_VISIT_MS, planVisit, type VisitPlan } from './plan-visit.ts'
import { createPublishParts, type PublishBudget, type PublishPartsDeps } from './publish-parts.ts'
import { type EndLeasesDeps, endLeases } from './record-outcomes.ts'

export interface HeldVisitsDeps extends PublishPartsDeps, EndLeasesDeps {
  readonly held: PublishPartsDeps['held'] & EndLeasesDeps['held'] & Pick<HeldStore, 'next'>
  readonly visits: Pick<HeldStore['visits'], 'claimDue' | 'finish'>
  readonly readEndpoint: (endpoint: Endpoint) => Promise<EndpointState>
  readonly postLimits: Pick<PostLimits, 'passOn'>
  readonly notices: Pick<Notices, 'noticeIfParked' | 'noticeHeldLimit'>
  /** How many deliveries wait in the queue of yielding ones, and in the queues of what is due. */
  readonly waiting: () => Promise<Readonly<Record<keyof PublishBudget, number>>>
  readonly log: Pick<Logger, 'warn'>
}

/** How often a worker claims due visits, if it knows of none that is due earlier. */
const VISITS_EVERY_MS = 1_000
/** How long a visit is claimed: longer than any takes. */
const CLAIM_MS = 30_000
const FAILED_VISIT_MS = 5_000
/** Of one partition of tenants. */
const VISITS_AT_ONCE = 50
/** So many may wait as yielding, and as many where they are due: workers send due ones before their reservations end (permit-store.ts). */
const DEEP = 5_000
/** Beyond the rounding of timers and of Redis' clock. */
const MOMENT_MS = 5
/** The shortest time between two visits to a subscription with limits. */
const MIN_VISIT_MS = 100

interface VisitsDeps extends Omit<HeldVisitsDeps, 'visits' | 'publish' | 'waiting'> {
  readonly held: HeldVisitsDeps['held'] & Pick<HeldStore, 'visits'>
  readonly broker: Pick<Broker, 'publishYielding' | 'queueDepths'>
  /** Shards of the due queues. */
  readonly shards: number
}

/** Lets held deliveries go on. */
export function startVisits({ broker, shards, ...deps }: VisitsDeps): Poll {
  async function waiting() {
    const [yielding = 0, ...due] = await broker.queueDepths([Queue.yielding, ...dueQueues(shards)])
    return { yielding, due: due.reduce((sum, ready) => sum + ready, 0) }
  }
  const { visits } = deps.held
  return startPoll(
    VISITS_EVERY_MS,
    createVisitHeld({ ...deps, visits, publish: broker.publishYielding, waiting }),
    (error) => deps.log.warn('due visits to held deliveries cannot be read; retrying', { error }),
  )
}

/**
 * Visits the held deliveries of each subscription from time to time: ends leases, and publishes what is no longer held. Two
 * workers visit the same deliveries if a visit takes longer than its claim; held-store.ts of the store tells what follows.
 * Resolves to when to visit again, in ms.
 */
export function createVisitHeld(deps: HeldVisitsDeps): () => Promise<number> {
  const { held, visits, log } = deps
  const publish = createPublishParts(deps)

  /** Plans, and does what the plan says. Resolves to the time until the next visit; null: nothing is left. */
  async function visit(claimed: HeldVisit, readBudget: () => Promise<PublishBudget>): Promise<number | null> {
    const { tenant, subscriptionId: id } = claimed
    const endpoint = await deps.readEndpoint(claimed)
    let plan = planVisit(endpoint, await held.next(id))
    if (plan.kind === 'end-leases') {
      await endLeases(deps, claimed)
      plan = planVisit(endpoint, await held.next(id))
    }
    // Needs RabbitMQ, which the end of a lease does not wait for.
    await deps.notices.noticeHeldLimit(tenant)
    if (plan.kind === 'wait' || plan.kind === 'withdraw') publish.beginSlowly(id)
    switch (plan.kind) {
      case 'end':
      case 'wait':
      // More are over than one visit ends.
      case 'end-leases':
        return plan.nextInMs
      case 'withdraw':
        return await publish.withdraw(id, plan, await readBudget())
      case 'pass-on':
        return await passOn(plan, await readBudget())
      case 'publish-all':
        return await publish.publishAll(id, plan, await readBudget())
    }
  }

  /** It does not wait for a budget of yielding deliveries, which only the deliveries that need no permit take. */
  async function passOn(
    { limited, isProbing }: Extract<VisitPlan, { kind: 'pass-on' }>,
    budget: PublishBudget,
  ): Promise<number> {
    const { maxInFlight = PUBLISHED_AT_ONCE, maxPerSecond = PUBLISHED_AT_ONCE } = limited
    const most = Math.min(isProbing ? 1 : PUBLISHED_AT_ONCE, maxInFlight, maxPerSecond, budget.due)
    if (most <= 0) return NEXT_VISIT_MS
    budget.due -= most
    const nextInMs = await deps.postLimits.passOn(limited, { most, areManyYielding: budget.yielding <= 0 })
    return Math.max(MIN_VISIT_MS, Math.min(nextInMs ?? NEXT_VISIT_MS, NEXT_VISIT_MS))
  }

  /** When the first of the visits is due again, in ms: of those since this worker last claimed all that were due. */
  let soonestMs = NEXT_VISIT_MS
  return async () => {
    const due = await visits.claimDue(VISITS_AT_ONCE, CLAIM_MS)
    let budget: Promise<PublishBudget> | undefined
    const readBudget = (): Promise<PublishBudget> =>
      (budget ??= deps.waiting().then(({ yielding, due }) => ({ yielding: DEEP - yielding, due: DEEP - due })))
    const nextsMs = await Promise.all(
      due.map(async (claimed) => {
        try {
          const nextInMs = await visit(claimed, readBudget)
          await visits.finish(claimed, nextInMs)
          return nextInMs ?? NEXT_VISIT_MS
        } catch (error) {
          log.warn('could not check held deliveries; will retry', { ...claimed, error })
          // If this fails as well, the claim ends.
          await visits.finish(claimed, FAILED_VISIT_MS).catch(() => {})
          return NEXT_VISIT_MS
        }
      }),
    )
    soonestMs = Math.min(soonestMs, ...nextsMs)
    // More may be due.
    if (due.length >= VISITS_AT_ONCE) return MIN_VISIT_MS
    // A moment later, so that the visit is due.
    const waitMs = Math.max(MIN_VISIT_MS, soonestMs) + MOMENT_MS
    soonestMs = NEXT_VISIT_MS
    return waitMs
  }
}
