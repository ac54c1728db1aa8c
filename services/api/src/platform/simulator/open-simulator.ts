import { type AgentEntry, createSimulator, provisionAgents, type Scenario, type Simulator } from '@switchhook/platform'
import type { Logger } from '@switchhook/runtime'
import type { StateStore } from '@switchhook/store'
import { readAgent } from '../../agents/agent.ts'
import type { Base } from '../../feature.ts'
import type { State } from '../../state/state.ts'
import type { TimerOwners } from '../../state/timer-loop.ts'
import { createSimulatorRoutes } from './simulator-routes.ts'

/** `PLATFORM=simulator`: the simulated contact center with its development routes. */
export function openSimulatorPlatform({ config, log, now }: Base, { store, timers }: State) {
  const simulator = openSimulator({
    agents: config.SIMULATOR_AGENTS,
    scenario: config.SIMULATOR_SCENARIO ?? null,
    store,
    expectTimer: (dueInMs) => timers.expect(dueInMs),
    log,
    now,
  })
  return {
    platform: simulator,
    timers: { simulator: (timer) => simulator.due(timer) } satisfies TimerOwners,
    developmentRoutes: config.NODE_ENV === 'production' ? [] : createSimulatorRoutes({ simulator }),
  }
}

/** Creates the simulator with its storage and timers in Redis. */
export function openSimulator(deps: {
  readonly agents: readonly AgentEntry[]
  readonly scenario: Scenario | null
  readonly store: StateStore
  /** Called when a timer was set that falls due in `dueInMs`. */
  readonly expectTimer: (dueInMs: number) => void
  readonly log: Pick<Logger, 'warn'>
  readonly now: () => number
}): Simulator {
  const { store, agents, scenario, expectTimer, log, now } = deps
  return createSimulator({
    agents: provisionAgents(agents),
    scenario,
    liveCalls: async (tenant, agentUri) => (await readAgent(store, tenant, agentUri)).calls.map(({ callId }) => callId),
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
