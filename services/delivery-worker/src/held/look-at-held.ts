import type { SubscriptionId } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { Endpoint, HeldLook, HeldLooks, HeldStore } from '@switchhook/store'
import { LRUCache } from 'lru-cache'
import type { EndpointState } from '../endpoint/recent-looks.ts'
import type { Limits } from '../limits/limits.ts'
import { SENT_AT_ONCE, type SendHeldDeps, sendHeld } from '../limits/send-held.ts'
import { createEndLeases, type EndLeasesDeps } from './end-leases.ts'
import { type LookPlan, planLook, TICK_MS } from './plan-look.ts'
import { createWithdrawHeld } from './withdraw-held.ts'

export interface HeldLooksDeps extends SendHeldDeps, EndLeasesDeps {
  readonly held: SendHeldDeps['held'] & EndLeasesDeps['held'] & Pick<HeldStore, 'due' | 'next'>
  readonly looks: Pick<HeldLooks, 'claimDue' | 'finish'>
  readonly endpoint: (endpoint: Endpoint) => Promise<EndpointState>
  readonly limits: Pick<Limits, 'passOn'>
  /** Publishes the notices of a tenant's subscriptions whose held deliveries come near their limit. */
  readonly noticeLimit: (tenant: Endpoint['tenant']) => Promise<void>
  /** How many deliveries wait in the backlog queue, and in the queues of what is due. */
  readonly waiting: () => Promise<{ readonly backlog: number; readonly due: number }>
  readonly now: () => number
  readonly log: Pick<Logger, 'warn'>
}

/** How long a look is claimed: longer than any takes. If the worker dies, another one looks afterwards. */
const CLAIM_MS = 30_000
const FAILED_TICK_MS = 5_000
/** Of one partition of tenants. */
const LOOKS_AT_ONCE = 50
/** Deliveries that the first look after a pause publishes. Each further one publishes twice as many, up to the second. */
const FIRST_RELEASE = 100
const MAX_RELEASED = 2_000
/**
 * How long a worker remembers how far a release is while others look. Shorter than a cool-down, which others may have seen
 * begin and end; long, because a worker among many that has forgotten it begins slowly in the middle of a release.
 */
const RELEASE_MEMORY_MS = 25_000
/** More subscriptions than are resumed at a time. Beyond it, a release begins slowly again. */
const MAX_RELEASES = 10_000
/**
 * So many may wait in the backlog queue: what waits there for a minute moves to the queue that goes first (topology.ts). And as
 * many where they are due: workers send them before their reservations end (permit-store.ts).
 */
const DEEP = 5_000
/** Beyond the rounding of timers and of Redis' clock. */
const MOMENT_MS = 5
/** The shortest time between two looks at a subscription with limits. */
const LIMITED_TICK_MS = 100

type Plan<Kind extends LookPlan['kind']> = Extract<LookPlan, { kind: Kind }>

/** How many deliveries the looks of one tick may still publish, all together. `due`: of subscriptions with limits. */
interface Budget {
  left: number
  due: number
}

/**
 * Looks at the held deliveries of each subscription from time to time: ends leases, and publishes what is no longer held.
 * If a look takes longer than its claim, two workers look at the same deliveries: a delivery is then published twice with one
 * token, and the ledger drops the second, or a lease is ended twice, which costs an attempt number.
 * Resolves to when to look again, in ms; undefined: as usual.
 */
export function createLookAtHeld(deps: HeldLooksDeps): () => Promise<number | undefined> {
  const { held, looks, log } = deps
  /** How many deliveries the next look publishes, of subscriptions that no longer hold them. */
  const releases = new LRUCache<SubscriptionId, number>({
    max: MAX_RELEASES,
    ttl: RELEASE_MEMORY_MS,
    ttlResolution: 0,
    perf: { now: deps.now },
  })
  const withdraw = createWithdrawHeld(deps)
  const endLeases = createEndLeases(deps)

  /** Resolves to the time until the next look; null: nothing is left. */
  async function lookAt(look: HeldLook, readBudget: () => Promise<Budget>): Promise<number | null> {
    const { tenant, subscriptionId: id } = look
    const endpoint = await deps.endpoint(look)
    let plan = planLook(endpoint, await held.next(id))
    if (plan.kind === 'end-leases') {
      await endLeases(look)
      plan = planLook(endpoint, await held.next(id))
    }
    // Needs RabbitMQ, which the end of a lease does not wait for.
    await deps.noticeLimit(tenant)
    // The next release begins slowly.
    if (plan.kind === 'wait' || plan.kind === 'withdraw') releases.delete(id)
    switch (plan.kind) {
      case 'end':
      case 'wait':
      // More are over than one look ends.
      case 'end-leases':
        return plan.nextInMs
      case 'withdraw':
        return (await withdraw(id, await readBudget())) ? plan.nextInMs : TICK_MS
      case 'pass-on':
        return await passOn(plan, await readBudget())
      case 'release':
        return await release(id, plan, await readBudget())
    }
  }

  /** It does not wait for what others release. */
  async function passOn({ limited, isProbing }: Plan<'pass-on'>, budget: Budget): Promise<number> {
    const { maxInFlight = SENT_AT_ONCE, maxPerSecond = SENT_AT_ONCE } = limited
    const most = Math.min(isProbing ? 1 : SENT_AT_ONCE, maxInFlight, maxPerSecond, budget.due)
    if (most <= 0) return TICK_MS
    budget.due -= most
    const nextInMs = await deps.limits.passOn(limited, { most, isBacklogDeep: budget.left <= 0 })
    return Math.max(LIMITED_TICK_MS, Math.min(nextInMs ?? TICK_MS, TICK_MS))
  }

  async function release(id: SubscriptionId, plan: Plan<'release'>, budget: Budget): Promise<number> {
    if (budget.left <= 0) return TICK_MS
    const part = releases.get(id) ?? FIRST_RELEASE
    const most = Math.min(plan.isProbing ? 1 : part, budget.left)
    budget.left -= most
    const entries = await held.due(id, { most })
    budget.left += most - entries.length
    for (let at = 0; at < entries.length; at += SENT_AT_ONCE) {
      await sendHeld(deps, id, 'held', entries.slice(at, at + SENT_AT_ONCE), () => true)
    }
    if (entries.length < most) {
      releases.delete(id)
      return plan.nextInMs
    }
    releases.set(id, plan.isProbing ? FIRST_RELEASE : Math.min(2 * part, MAX_RELEASED))
    return TICK_MS
  }

  /** When the first of the looks is due again, in ms: of those since this worker last claimed all that were due. */
  let soonestMs = TICK_MS
  /** One line is logged per outage. */
  let isUnavailable = false
  return async () => {
    try {
      const due = await looks.claimDue(LOOKS_AT_ONCE, CLAIM_MS)
      isUnavailable = false
      let budget: Promise<Budget> | undefined
      const readBudget = (): Promise<Budget> =>
        (budget ??= deps.waiting().then(({ backlog, due }) => ({ left: DEEP - backlog, due: DEEP - due })))
      const nextsMs = await Promise.all(
        due.map(async (look) => {
          try {
            const nextInMs = await lookAt(look, readBudget)
            await looks.finish(look, nextInMs)
            return nextInMs ?? TICK_MS
          } catch (error) {
            log.warn('could not check held deliveries; will retry', { ...look, error })
            // If this fails as well, the claim ends.
            await looks.finish(look, FAILED_TICK_MS).catch(() => {})
            return TICK_MS
          }
        }),
      )
      soonestMs = Math.min(soonestMs, ...nextsMs)
      // More may be due.
      if (due.length >= LOOKS_AT_ONCE) return LIMITED_TICK_MS
      // A moment later, so that the look is due.
      const waitMs = Math.max(LIMITED_TICK_MS, soonestMs) + MOMENT_MS
      soonestMs = TICK_MS
      return waitMs
    } catch (error) {
      if (!isUnavailable) log.warn('due looks at held deliveries cannot be read; retrying', { error })
      isUnavailable = true
      return undefined
    }
  }
}
