import { setTimeout as pause } from 'node:timers/promises'
import { olderLeasesEndAt, type Subscription } from '@switchhook/contracts'

type Change = Partial<Pick<Subscription, 'url' | 'eventTypes' | 'enabled'>>

/**
 * Does the answer to this change promise that some first attempts no longer leave? What the client asks for
 * counts, not only what differs: a repeat finds the change made, perhaps a moment ago by a request whose answer was lost or is
 * still waiting. Only an addition of event types is known to take nothing away.
 * @param before as it was stored; undefined: there is no such subscription
 */
export function takesAway({ url, eventTypes, enabled }: Change, before: Subscription | undefined): boolean {
  if (enabled === false || url !== undefined) return true
  return eventTypes !== undefined && !isAddition(eventTypes, before?.eventTypes ?? eventTypes)
}

/**
 * Resolves once no delivery worker relies on an older state of a subscription any more.
 * @param storedAtMs monotonic time at which the store has answered
 */
export async function outlastLeases(storedAtMs: number): Promise<void> {
  const untilMs = olderLeasesEndAt(storedAtMs)
  // A timer counts from when its turn of the event loop began, so it may fire early.
  for (;;) {
    const leftMs = untilMs - performance.now()
    if (leftMs <= 0) return
    await pause(Math.ceil(leftMs))
  }
}

const isAddition = (after: readonly string[], before: readonly string[]): boolean =>
  before.every((type) => after.includes(type)) && after.some((type) => !before.includes(type))
