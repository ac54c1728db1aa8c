import type { SubscriptionId } from '@switchhook/contracts'
import type { ParkedCounter, ParkedWindow } from '@switchhook/store'
import { type Recovery, rangeOf, splitAtBodies } from './recovery.ts'

export interface CountDeps {
  readonly parked: Pick<ParkedWindow, 'newest' | 'count'>
  readonly parkedCount: ParkedCounter['count']
}

/** Counts the parked deliveries that a recovery would send, and those that have lost their body. */
export async function countParked(
  { parked, parkedCount }: CountDeps,
  subscriptionId: SubscriptionId,
  { selection, startedBy }: Pick<Recovery, 'selection' | 'startedBy'>,
) {
  // The recovery ends at the current end of the list: deliveries that it parks again come later.
  const newest = await parked.newest(subscriptionId)
  const { bodiesUntil } = await parkedCount(subscriptionId)
  const range = { ...rangeOf(selection, newest), isFirstRun: startedBy !== undefined }
  const { withBody, withoutBody } = splitAtBodies(range, bodiesUntil)
  const [found, lost] = await Promise.all([
    parked.count(subscriptionId, withBody),
    withoutBody === undefined ? { count: 0 } : parked.count(subscriptionId, withoutBody),
  ])
  const { after, until } = withBody
  const shown = { ...found, withoutBody: lost.count }
  return { shown, found: found.count + lost.count, failed: lost.count, after, until, newest }
}
