import type { Logger } from '@switchhook/runtime'
import type { Endpoint, HeldStore, HeldVisit, HeldVisits } from '@switchhook/store'
import type { EndpointState } from '../endpoint/admit.ts'
import type { PostLimits } from '../limits/post-limits.ts'
import { PUBLISHED_AT_ONCE } from '../limits/publish-held.ts'
import type { Notices } from '../notices/notices.ts'
import { createEndLeases, type EndLeasesDeps } from './end-leases.ts'
import { NEXT_VISIT_MS, planVisit, type VisitPlan } from './plan-visit.ts'
import { createPublishAll, type PublishAllDeps, type PublishBudget } from './publish-all.ts'
import { createWithdrawHeld } from './withdraw-held.ts'

export interface HeldVisitsDeps extends PublishAllDeps, EndLeasesDeps {
  readonly held: PublishAllDeps['held'] & EndLeasesDeps['held'] & Pick<HeldStore, 'next'>
  readonly visits: Pick<HeldVisits, 'claimDue' | 'finish'>
  readonly endpoint: (endpoint: Endpoint) => Promise<EndpointState>
  readonly postLimits: Pick<PostLimits, 'passOn'>
  readonly noticeHeldLimit: Notices['noticeHeldLimit']
  /** How many deliveries wait in the queue of yielding ones, and in the queues of what is due. */
  readonly waiting: () => Promise<Readonly<Record<keyof PublishBudget, number>>>
  readonly log: Pick<Logger, 'warn'>
}

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

/**
 * Visits the held deliveries of each subscription from time to time: ends leases, and publishes what is no longer held. Two
 * workers visit the same deliveries if a visit takes longer than its claim; held-store.ts of the store tells what follows.
 * Resolves to when to visit again, in ms.
 */
export function createVisitHeld(deps: HeldVisitsDeps): () => Promise<number> {
  const { held, visits, log } = deps
  const withdraw = createWithdrawHeld(deps)
  const endLeases = createEndLeases(deps)

  const publishAll = createPublishAll(deps)

  /** Plans, and does what the plan says. Resolves to the time until the next visit; null: nothing is left. */
  async function visit(claimed: HeldVisit, readBudget: () => Promise<PublishBudget>): Promise<number | null> {
    const { tenant, subscriptionId: id } = claimed
    const endpoint = await deps.endpoint(claimed)
    let plan = planVisit(endpoint, await held.next(id))
    if (plan.kind === 'end-leases') {
      await endLeases(claimed)
      plan = planVisit(endpoint, await held.next(id))
    }
    // Needs RabbitMQ, which the end of a lease does not wait for.
    await deps.noticeHeldLimit(tenant)
    switch (plan.kind) {
      case 'end':
      // More are over than one visit ends.
      case 'end-leases':
        return plan.nextInMs
      case 'wait':
        publishAll.beginSlowly(id)
        return plan.nextInMs
      case 'withdraw':
        publishAll.beginSlowly(id)
        return (await withdraw(id, await readBudget())) ? plan.nextInMs : NEXT_VISIT_MS
      case 'pass-on':
        return await passOn(plan, await readBudget())
      case 'publish-all':
        return await publishAll.publishPart(id, plan, await readBudget())
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
