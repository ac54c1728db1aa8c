import type { ParkedWindow } from '@switchhook/store'

type Count = ParkedWindow['count']

/** Counting reads every record of the range: whoever asks for the same while it is under way waits for that one. */
export function shareCounts(count: Count): Count {
  const underWay = new Map<string, ReturnType<Count>>()
  return (subscriptionId, range) => {
    const key = JSON.stringify([subscriptionId, range.after, range.until, range.reason])
    const present = underWay.get(key)
    if (present !== undefined) return present
    const counting = count(subscriptionId, range).finally(() => underWay.delete(key))
    underWay.set(key, counting)
    return counting
  }
}
