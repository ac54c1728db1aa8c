/**
 * Divides `max` evenly among partitions, so that a partition with many entries does not starve the others.
 * @param parts the partitions that have entries
 * @param round a number that grows with each call: each round begins with another partition
 * @returns pairs of a partition and its share, if that is positive
 */
export function divideEvenly(max: number, parts: readonly number[], round: number): [part: number, count: number][] {
  const from = parts.length === 0 ? 0 : round % parts.length
  const order = [...parts.slice(from), ...parts.slice(0, from)]
  const each = Math.floor(max / order.length)
  const rest = max % order.length
  return order
    .map((part, place): [number, number] => [part, each + (place < rest ? 1 : 0)])
    .filter(([, count]) => count > 0)
}
