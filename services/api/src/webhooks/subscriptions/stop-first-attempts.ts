import { setTimeout as pause } from 'node:timers/promises'
import { ALL_TYPES, hasLimits, olderLeasesEndAt, type SubscribedType, type Subscription } from '@switchhook/contracts'

type Change = Partial<Omit<Subscription, 'headers'>> & { readonly headers?: unknown }

/**
 * Whether the answer to this change promises that some first attempts are no longer sent, or only with the new headers or as
 * limits allow (so does every DELETE). Fields that equal the stored ones count too: an earlier request may have stored the change a moment ago,
 * and its answer may be lost or still waiting. Adding event types stops nothing, nor does removing a filter.
 * @param before the stored subscription before the change; undefined: it does not exist
 */
export function stopsFirstAttempts(
  { url, eventTypes, filter, headers, enabled, paused, pausedUntil, expireAfterSeconds, ...limits }: Change,
  before: Subscription | undefined,
): boolean {
  if (enabled === false || url !== undefined || filter !== undefined || headers !== undefined) return true
  if (expireAfterSeconds !== undefined || paused === true || pausedUntil !== undefined || hasLimits(limits)) return true
  return eventTypes !== undefined && !isAddition(eventTypes, before?.eventTypes ?? eventTypes)
}

/**
 * Resolves once no delivery worker holds a lease on an older state of the subscription, so that no first attempt relies on
 * it any more (ADR 0031). The worker withdraws queued first attempts in its `endpoint/admit.ts`.
 * @param storedAtMs monotonic time of the store's answer
 */
export async function firstAttemptsStopped(storedAtMs: number): Promise<void> {
  const untilMs = olderLeasesEndAt(storedAtMs)
  // A timer counts from the start of its event loop iteration, so it can fire early.
  for (;;) {
    const leftMs = untilMs - performance.now()
    if (leftMs <= 0) return
    await pause(Math.ceil(leftMs))
  }
}

const isAddition = (after: readonly SubscribedType[], before: readonly SubscribedType[]): boolean =>
  before.every(isIn(after)) && !after.every(isIn(before))

const isIn = (types: readonly SubscribedType[]) => (type: SubscribedType) =>
  types.includes(type) || types.includes(ALL_TYPES)
