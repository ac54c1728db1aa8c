import type { CallId } from '@switchhook/contracts'
import {
  type AgentEntry,
  createSimulator,
  type LegReport,
  provisionAgents,
  type Scenario,
  type Simulator,
  simulatedCallKey,
  stepOf,
} from '@switchhook/platform'
import type { Logger } from '@switchhook/runtime'
import type { StateStore } from '@switchhook/store'
import type { Base } from '../../../base.ts'
import type { State } from '../../../state/state.ts'
import type { TimerOwners } from '../../../state/timer-loop.ts'
import { liveCallsOf, readAgent } from '../../center/agent.ts'
import type { Center } from '../../center/center.ts'

type RecordWith = Center['recordWith']

export function openSimulatorPlatform({ config, log, now }: Base, { store }: State, record: RecordWith) {
  const simulator = openSimulator({
    record,
    agents: config.SIMULATOR_AGENTS,
    scenario: config.SIMULATOR_SCENARIO ?? null,
    store,
    log,
    now,
  })
  return {
    platform: simulator,
    // The simulator runs in this process.
    link: () => 'connected' as const,
    unknownChannels: () => 0,
    keysOfCall: (callId: CallId) => [simulatedCallKey(callId)],
    timers: { simulator: (timer) => simulator.due(timer) } satisfies TimerOwners,
    simulator: config.NODE_ENV === 'production' ? null : simulator,
  }
}

/** Creates the simulator with its storage and timers in Redis. */
export function openSimulator(deps: {
  readonly agents: readonly AgentEntry[]
  readonly scenario: Scenario | null
  readonly store: StateStore
  /** Records the reports of a step in the write of the step. Absent: they are recorded after it. */
  readonly record?: RecordWith
  readonly log: Pick<Logger, 'warn'>
  readonly now: () => number
}): Simulator {
  const { store, agents, scenario, record, log, now } = deps
  /** Reports that a write has recorded. The simulator passes the same objects to its listener afterwards. */
  const recorded = new WeakSet<LegReport>()
  const simulator = createSimulator({
    agents: provisionAgents(agents),
    scenario,
    liveCalls: async (tenant, agentUri) => liveCallsOf(await readAgent(store, tenant, agentUri), now()),
    now,
    onError: (message, error) => log.warn(message, { error }),
    storage: {
      read: (tenant, keys) => store.read(tenant, keys),
      async write(tenant, change, known) {
        const step = stepOf(change)
        if (step !== undefined && record !== undefined) {
          const result = await record(step.reports, { records: change.records, timers: step.timers }, known)
          if (result === 'committed') for (const report of step.reports) recorded.add(report)
          return result
        }
        const { records, timers } = change
        return store.commit(tenant, { records, timers, events: [] })
      },
    },
  })
  return {
    ...simulator,
    start: (listener) =>
      simulator.start({
        ...listener,
        legs: async (reports) => {
          if (!reports.every((report) => recorded.has(report))) await listener.legs(reports)
        },
      }),
  }
}
