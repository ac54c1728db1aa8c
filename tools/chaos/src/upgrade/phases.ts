import type { Fleet } from '@switchhook/local'

/** One step of a rolling update: the versions that run side by side while it lasts. */
export interface Phase {
  readonly name: string
  readonly fleet: Fleet
}

export const ORDERS = ['documented', 'wrong'] as const
export type Order = (typeof ORDERS)[number]

/** docs/upgrades.md: consumers understand what a new api writes, so they are first on the way up and last on the way down. */
const CONSUMERS_FIRST = ['delivery-worker', 'fanout', 'api'] as const
const API_FIRST = ['api', 'delivery-worker', 'fanout'] as const

/** An update to the new version and a rollback, one service at a time: each runs in both versions, then in its target alone. */
export function phasesOf(order: Order): readonly [Phase, ...Phase[]] {
  const [up, down] = order === 'documented' ? [CONSUMERS_FIRST, API_FIRST] : [API_FIRST, CONSUMERS_FIRST]
  let fleet: Fleet = { api: ['old'], fanout: ['old'], 'delivery-worker': ['old'] }
  const phases: [Phase, ...Phase[]] = [{ name: 'the old version alone', fleet }]
  const replace = (service: keyof Fleet, target: 'old' | 'new'): void => {
    fleet = { ...fleet, [service]: ['old', 'new'] }
    phases.push({ name: `old and new ${service}`, fleet })
    fleet = { ...fleet, [service]: [target] }
    phases.push({ name: `${target} ${service}`, fleet })
  }
  for (const service of up) replace(service, 'new')
  for (const service of down) replace(service, 'old')
  return phases
}
