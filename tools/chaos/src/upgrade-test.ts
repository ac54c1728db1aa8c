import { join } from 'node:path'
import { buildVersion, commitOf, previousVersion, startFleet } from '@switchhook/local'
import { loadConfig, text } from '@switchhook/runtime'
import { joinTestRun, leaveTestRun } from '@switchhook/test-servers'
import { someOf } from './options.ts'
import { SETTINGS } from './settings.ts'
import { ORDERS, phasesOf } from './upgrade/phases.ts'
import { runUpgrade } from './upgrade/run-upgrade.ts'

/** Updates from another commit to this one and back, under load, and checks what receivers saw (docs/upgrades.md). */
joinTestRun()
const fields = { FROM: text(previousVersion() ?? ''), ORDER: someOf(ORDERS), SWITCHHOOK_HOME: text('.local') }
const { FROM, ORDER, SWITCHHOOK_HOME } = loadConfig(fields, process.env)
const commit = commitOf(FROM)
console.log(`building ${commit}`)
const previous = await buildVersion(commit)
for (const order of ORDER) {
  console.log(`\n== ${order} order, from ${commit.slice(0, 7)} and back ==`)
  const fleet = await startFleet(join(SWITCHHOOK_HOME, 'upgrade'), previous, SETTINGS)
  try {
    await runUpgrade(fleet, phasesOf(order))
  } finally {
    await fleet.stop()
  }
}
await leaveTestRun()
