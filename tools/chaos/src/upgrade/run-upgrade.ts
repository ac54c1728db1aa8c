import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningFleet } from '@switchhook/local'
import { everyServiceIsReady, type LoadTarget, startLoad } from '../load/start-load.ts'
import { type Disturbance, DUPLICATES_ANYTHING, type Observation } from '../reconcile/observation.ts'
import { conclude, figuresOf } from '../report.ts'
import { BEHAVIOURS, BROKEN_AT_FIRST, DOWN_FOR_LONG } from '../subscribers/behaviour.ts'
import type { Phase } from './phases.ts'

/** The seed decides how the endpoints behave. */
const SEED = 20261122
/** A new event and a pause per phase, so that deliveries of each phase wait for a retry in the next ones. */
const PHASE_MS = 3_000
const READY_WITHIN_MS = 60_000

/** The notices of an older version may differ, its api may not know some settings, and no recovery or long outage belongs to an update. */
const TO_BOTH_VERSIONS = BEHAVIOURS.filter(
  ({ name, eventTypes, mode, filter, headers, expireAfterSeconds }) =>
    [mode, filter, headers, expireAfterSeconds].every((setting) => setting === undefined) &&
    name !== BROKEN_AT_FIRST &&
    name !== DOWN_FOR_LONG &&
    eventTypes.every((type) => !type.startsWith('webhook.')),
)

/** Takes the fleet through all phases under load, and reconciles every event of the whole way. */
export async function runUpgrade(fleet: RunningFleet, phases: readonly [Phase, ...Phase[]]): Promise<void> {
  await fleet.become(phases[0].fleet)
  const target: LoadTarget = {
    apis: () => fleet.apis().map(({ url }) => url),
    devIdp: fleet.devIdp,
    managementUrl: () => fleet.managementUrl,
    notReady: () => fleet.notReady(),
  }
  await using load = await startLoad(target, SEED, TO_BOTH_VERSIONS)
  const disturbances: Disturbance[] = []
  for (const { name, fleet: wanted } of phases) {
    const fromMs = Date.now()
    await fleet.become(wanted)
    await everyServiceIsReady(target, READY_WITHIN_MS).catch((error: unknown) => {
      throw new Error(`${name}: ${String(error)}`)
    })
    disturbances.push({ ...DUPLICATES_ANYTHING, fromMs, toMs: Date.now() })
    await load.newEventArrives()
    await sleep(PHASE_MS)
    console.log(`${name}: ${load.subscribers.received.posts.length} POSTs so far`)
  }
  const observe = async (): Promise<Observation> => ({ ...(await load.observe()), disturbances })
  const result = await load.finish(observe, () => false)
  conclude(figuresOf(result), result.problems, { good: 'nothing was lost', bad: 'something is wrong' })
}
