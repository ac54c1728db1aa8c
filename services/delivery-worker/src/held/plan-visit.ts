import { hasLimits, holdsDeliveries } from '@switchhook/contracts'
import type { HeldStore } from '@switchhook/store'
import { type EndpointState, nextVisitMs } from '../endpoint/admit.ts'

/** What a visit does with the held deliveries of a subscription. `nextInMs`: when to visit again; null: nothing is left. */
export type VisitPlan = ReturnType<typeof planVisit>

/** How often a worker visits while there is something to do. */
export const NEXT_VISIT_MS = 1_000

/** Pure. @param next of the entries of the subscription, with the time by which they and the cool-down are measured */
export function planVisit(
  { health, subscription }: EndpointState,
  { nowMs, dueAtMs, lapsesAtMs }: Awaited<ReturnType<HeldStore['next']>>,
) {
  if (dueAtMs === null && lapsesAtMs === null) return { kind: 'end', nextInMs: null } as const
  // Or a worker has not parked what it has claimed.
  if (lapsesAtMs !== null && lapsesAtMs <= nowMs) return { kind: 'end-leases', nextInMs: 0 } as const
  const inMs = (atMs: number): number => Math.max(NEXT_VISIT_MS, atMs - nowMs)
  const isHolding = subscription !== undefined && holdsDeliveries(subscription, nowMs)
  const restMs = isHolding ? nextVisitMs(subscription, nowMs) : inMs(dueAtMs ?? lapsesAtMs ?? 0)
  const nextInMs = Math.min(restMs, inMs(lapsesAtMs ?? Number.POSITIVE_INFINITY))
  // All held deliveries stay held.
  if (isHolding && subscription.enabled) return { kind: 'wait', nextInMs } as const
  // A subscription that is disabled while it is paused holds what was attempted: only first attempts go on, and are withdrawn.
  // `nextInMs`: once all that are due have been read.
  if (isHolding) return { kind: 'withdraw', nextInMs } as const
  // The endpoint is in its cool-down.
  if (health.state === 'open') return { kind: 'wait', nextInMs: inMs(health.openUntilMs ?? 0) } as const
  const isProbing = health.state === 'probing'
  // As many go on as permits are free, one if it is the probe that ends a cool-down.
  if (subscription !== undefined && hasLimits(subscription)) {
    return { kind: 'pass-on', limited: subscription, isProbing } as const
  }
  // All go on, a part at a time. `nextInMs`: once all that are due have gone.
  return { kind: 'publish-all', isProbing, nextInMs } as const
}
