import type { AgentEntry, Simulator } from '@switchhook/platform-simulator'
import type { StateStore } from '@switchhook/store'
import { silentLog } from '@switchhook/testkit'
import type { RecordWith } from '../contact-center/center/center.ts'
import { openSimulator } from '../contact-center/platform/simulator/open-simulator.ts'

/**
 * A simulator with these agents, without a scenario.
 * @param record as `openSimulator` takes it; absent: the reports of a step are recorded after its write
 */
export function aSimulator(agents: readonly AgentEntry[], store: StateStore, record?: RecordWith): Simulator {
  const config = { NODE_ENV: 'test', SIMULATOR_AGENTS: agents, SIMULATOR_SCENARIO: undefined } as const
  return openSimulator({ config, log: silentLog, now: Date.now }, { store }, record).platform
}
