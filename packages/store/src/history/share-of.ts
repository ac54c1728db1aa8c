/**
 * A fair share of what is read of a tenant: the largest number of deliveries per subscription, at most `perSubscription`, with
 * which all subscriptions together stay within `perTenant`. A subscription with fewer loses none.
 * @param counts the number of deliveries of each subscription of the tenant
 * @returns at least 1
 */
export function shareOf(
  counts: readonly number[],
  { perSubscription, perTenant }: { readonly perSubscription: number; readonly perTenant: number },
): number {
  const sumWith = (share: number): number => counts.reduce((sum, count) => sum + Math.min(count, share), 0)
  if (sumWith(perSubscription) <= perTenant) return perSubscription
  let [least, most] = [1, perSubscription]
  while (least < most) {
    const share = Math.ceil((least + most) / 2)
    if (sumWith(share) <= perTenant) least = share
    else most = share - 1
  }
  return least
}
