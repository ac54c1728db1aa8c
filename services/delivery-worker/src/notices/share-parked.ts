/** How many parked deliveries may keep their body. */
export interface ParkedLimits {
  readonly perSubscription: number
  readonly perTenant: number
}

/**
 * How many parked deliveries each subscription of a tenant may keep whole: the largest number, at most `perSubscription`,
 * with which all of them together stay within `perTenant`. Whoever has fewer loses nothing, so a subscription with many
 * cannot displace its neighbours' deliveries.
 * @param counts how many are parked, for each subscription of the tenant
 * @returns at least 1
 */
export function shareParked(counts: Iterable<number>, { perSubscription, perTenant }: ParkedLimits): number {
  const ascending = [...counts].filter((count) => count > 0).toSorted((a, b) => a - b)
  let left = perTenant
  for (const [i, count] of ascending.entries()) {
    const fairShare = Math.floor(left / (ascending.length - i))
    if (count > fairShare) return Math.max(1, Math.min(perSubscription, fairShare))
    // More than `perSubscription` are never kept whole.
    left -= Math.min(count, perSubscription)
  }
  return perSubscription
}
