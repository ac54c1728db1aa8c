import type { Topology } from '../topology/topology.ts'

/** Exchanges and queues that a topology names but does not declare, and dead-letter keys without a binding. */
export function danglingNames({
  exchanges,
  alternates = {},
  queues,
  bindings,
  exchangeBindings = [],
}: Topology): string[] {
  const names = [
    ...[...bindings, ...exchangeBindings].map(({ from }) => from).filter((name) => !(name in exchanges)),
    ...bindings.map(({ to }) => to).filter((name) => !(name in queues)),
    ...[...exchangeBindings.map(({ to }) => to), ...Object.entries(alternates).flat()].filter(
      (name) => !(name in exchanges),
    ),
  ]
  const deadLetters = Object.values(queues).flatMap((queue) => {
    const exchange = queue['x-dead-letter-exchange']
    const key = queue['x-dead-letter-routing-key']
    if (exchange === undefined) return []
    if (!(exchange in exchanges)) return [String(exchange)]
    return bindings.some((binding) => binding.from === exchange && binding.key === key) ? [] : [String(key)]
  })
  return [...new Set([...names, ...deadLetters])]
}
