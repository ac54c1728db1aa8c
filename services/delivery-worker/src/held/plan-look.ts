import { hasLimits, holdsDeliveries, type Subscription } from '@switchhook/contracts'
import type { HeldStore } from '@switchhook/store'
import { nextLookMs } from '../policy/admit.ts'
import type { EndpointState } from '../policy/recent-looks.ts'

/** What a look does with the held deliveries of a subscription. `nextInMs`: when to look again. */
export type LookPlan =
  | { readonly kind: 'end' }
  /** `isHolding`: all of them stay held. Otherwise the endpoint is in its cool-down. */
  | { readonly kind: 'wait'; readonly isHolding: boolean; readonly nextInMs: number }
  /** As many go on as permits are free, one if it is the probe that ends a cool-down. */
  | { readonly kind: 'pass-on'; readonly limited: Subscription; readonly isProbing: boolean }
  /**
   * A subscription that is disabled while it is paused holds what was attempted: only first attempts go on, and are withdrawn.
   * `nextInMs`: once all that are due have been read.
   */
  | { readonly kind: 'withdraw'; readonly nextInMs: number }
  /** All go on, a part at a time. `nextInMs`: once all that are due have gone. */
  | { readonly kind: 'release'; readonly isProbing: boolean; readonly nextInMs: number }

/** A worker looks so often while there is something to do. */
export const TICK_MS = 1_000

/** Pure. @param next of the entries of the subscription, with the time by which they and the cool-down are measured */
export function planLook(
  { health, subscription }: EndpointState,
  { nowMs, dueAtMs, lapsesAtMs }: Awaited<ReturnType<HeldStore['next']>>,
): LookPlan {
  if (dueAtMs === null && lapsesAtMs === null) return { kind: 'end' }
  const inMs = (atMs: number): number => Math.max(TICK_MS, atMs - nowMs)
  const isHolding = subscription !== undefined && holdsDeliveries(subscription, nowMs)
  const restMs = isHolding ? nextLookMs(subscription, nowMs) : inMs(dueAtMs ?? lapsesAtMs ?? 0)
  const nextInMs = Math.min(restMs, inMs(lapsesAtMs ?? Number.POSITIVE_INFINITY))
  if (isHolding) return subscription.enabled ? { kind: 'wait', isHolding, nextInMs } : { kind: 'withdraw', nextInMs }
  if (health.state === 'open') return { kind: 'wait', isHolding: false, nextInMs: inMs(health.openUntilMs ?? 0) }
  const isProbing = health.state === 'probing'
  if (subscription !== undefined && hasLimits(subscription))
    return { kind: 'pass-on', limited: subscription, isProbing }
  return { kind: 'release', isProbing, nextInMs }
}
