/**
 * Divides a budget fairly: each demand is met in full, unless it exceeds an equal share of what the smaller demands leave.
 * Returns one share per demand, in the same order.
 */
export function sharesOf(demands: readonly number[], budget: number): number[] {
  const shares = demands.map(() => 0)
  let left = budget
  const rising = [...demands.entries()].toSorted(([, a], [, b]) => a - b)
  for (const [rank, [at, demand]] of rising.entries()) {
    const share = Math.min(demand, Math.floor(left / (rising.length - rank)))
    shares[at] = share
    left -= share
  }
  return shares
}
