/**
 * Divides at most `max` among the parts that have something, beginning with another part on every turn, so that a part
 * with much to give starves none.
 * @returns pairs of part and its positive share
 */
export function share(max: number, parts: readonly number[], turn: number): [part: number, count: number][] {
  const from = parts.length === 0 ? 0 : turn % parts.length
  const order = [...parts.slice(from), ...parts.slice(0, from)]
  const each = Math.floor(max / order.length)
  const rest = max % order.length
  return order
    .map((part, place): [number, number] => [part, each + (place < rest ? 1 : 0)])
    .filter(([, count]) => count > 0)
}
