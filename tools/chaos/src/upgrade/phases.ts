import type { Fleet } from '@switchhook/local'

/** One step of a rolling update: the versions that run side by side while it lasts. */
export interface Phase {
  readonly name: string
  readonly fleet: Fleet
}

export const ORDERS = ['documented', 'wrong'] as const
export type Order = (typeof ORDERS)[number]

const OLD = ['old'] as const
const NEW = ['new'] as const
const BOTH = ['old', 'new'] as const

type Service = keyof Fleet

/** docs/upgrades.md: consumers understand what a new api writes, so they are first on the way up and last on the way down. */
const CONSUMERS: readonly Service[] = ['delivery-worker', 'fanout']
const API: readonly Service[] = ['api']

/** An update to the new version and a rollback, one service at a time: each runs in both versions, then in its target alone. */
export function phasesOf(order: Order): readonly Phase[] {
  const [consumersFirst, apiFirst] = [
    [...CONSUMERS, ...API],
    [...API, ...CONSUMERS],
  ]
  const [up, down] = order === 'documented' ? [consumersFirst, apiFirst] : [apiFirst, consumersFirst]
  let fleet: Fleet = { api: OLD, fanout: OLD, 'delivery-worker': OLD }
  const phases: Phase[] = [{ name: 'the old version alone', fleet }]
  const replace = (services: readonly Service[], target: 'old' | 'new'): void => {
    for (const service of services) {
      fleet = { ...fleet, [service]: BOTH }
      phases.push({ name: `old and new ${service}`, fleet })
      fleet = { ...fleet, [service]: target === 'new' ? NEW : OLD }
      phases.push({ name: `${target} ${service}`, fleet })
    }
  }
  replace(up, 'new')
  replace(down, 'old')
  return phases
}
