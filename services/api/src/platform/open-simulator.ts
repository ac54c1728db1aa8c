import type { CallId } from '@switchhook/contracts'
import { type AgentEntry, createSimulator, provisionAgents, type Scenario, type Simulator } from '@switchhook/platform'
import type { Logger } from '@switchhook/runtime'
import type { StateStore } from '@switchhook/store'

/** The simulated contact center, with its memory and its timers in the store. */
export function openSimulator(deps: {
  readonly agents: readonly AgentEntry[]
  readonly scenario: Scenario | null
  readonly store: StateStore
  readonly liveCalls: (tenant: string | null, agentUri: string) => Promise<readonly CallId[]>
  /** A timer was set that falls due in so long. */
  readonly expectTimer: (dueInMs: number) => void
  readonly log: Pick<Logger, 'warn'>
  readonly now: () => number
}): Simulator {
  const { store, agents, scenario, liveCalls, expectTimer, log, now } = deps
  return createSimulator({
    agents: provisionAgents(agents),
    scenario,
    liveCalls,
    now,
    onError: (message, error) => log.warn(message, { error }),
    storage: {
      async read(tenant, keys) {
        const records = await store.read(tenant, keys)
        return records.map((record) => record ?? { version: 0, value: undefined })
      },
      async write(tenant, { records, timers }) {
        const result = await store.commit(tenant, { records, timers, events: [] })
        if (result === 'committed') for (const { dueInMs } of timers) expectTimer(dueInMs)
        return result
      },
    },
  })
}
