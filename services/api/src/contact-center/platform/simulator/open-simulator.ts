import type { CallId } from '@switchhook/contracts'
import type { LegReport } from '@switchhook/platform'
import { createSimulator, provisionAgents, simulatedCallKey, stepOf } from '@switchhook/platform-simulator'
import type { Base } from '../../../base.ts'
import type { ApiConfig } from '../../../config.ts'
import type { State } from '../../../state/state.ts'
import type { TimerOwners } from '../../../state/timer-loop.ts'
import { liveCallsOf, readAgent } from '../../center/agent.ts'
import type { RecordWith } from '../../center/center.ts'

interface SimulatorBase extends Pick<Base, 'log' | 'now'> {
  readonly config: Pick<ApiConfig, 'NODE_ENV' | 'SIMULATOR_AGENTS' | 'SIMULATOR_SCENARIO'>
}

/**
 * `PLATFORM=simulator`: a simulated contact center in this process, with its storage and timers in Redis.
 * @param record records the reports of a step in the write of the step. Undefined: they are recorded after it
 */
export function openSimulator(
  { config, log, now }: SimulatorBase,
  { store }: Pick<State, 'store'>,
  record: RecordWith | undefined,
) {
  /** Reports that a write has recorded. The simulator passes the same objects to its listener afterwards. */
  const recorded = new WeakSet<LegReport>()
  const created = createSimulator({
    agents: provisionAgents(config.SIMULATOR_AGENTS),
    scenario: config.SIMULATOR_SCENARIO ?? null,
    liveCalls: async (tenant, agentUri) => liveCallsOf(await readAgent(store, tenant, agentUri), now()),
    now,
    onError: (message, error) => log.warn(message, { error }),
    storage: {
      read: (tenant, keys) => store.read(tenant, keys),
      async write(tenant, change, known) {
        const step = stepOf(change)
        if (step !== undefined && record !== undefined) {
          const result = await record(step.reports, step, known)
          if (result === 'committed') for (const report of step.reports) recorded.add(report)
          return result
        }
        const { records, timers } = change
        return store.commit(tenant, { records, timers, events: [] })
      },
    },
  })
  const simulator: typeof created = {
    ...created,
    start: (listener) =>
      created.start({
        ...listener,
        legs: async (reports) => {
          if (!reports.every((report) => recorded.has(report))) await listener.legs(reports)
        },
      }),
  }
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
