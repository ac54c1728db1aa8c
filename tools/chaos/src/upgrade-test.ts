import { join } from 'node:path'
import { buildVersion, commitOf, PREVIOUS_VERSION, startFleet } from '@switchhook/local'
import { loadConfig, text } from '@switchhook/runtime'
import { someOf } from './options.ts'
import { SETTINGS } from './settings.ts'
import { ORDERS, phasesOf } from './upgrade/phases.ts'
import { runUpgrade } from './upgrade/run-upgrade.ts'

const say = (line: string): void => console.log(line)

const fields = { FROM: text(PREVIOUS_VERSION), ORDER: someOf(ORDERS), SWITCHHOOK_HOME: text('.local') }

/** Updates from another commit to this one and back, under load, and checks what receivers saw (docs/upgrades.md). */
async function main(): Promise<void> {
  const { FROM, ORDER, SWITCHHOOK_HOME } = loadConfig(fields, process.env)
  const commit = commitOf(FROM)
  say(`building ${commit}`)
  const previous = await buildVersion(commit)
  for (const order of ORDER) {
    say(`\n== ${order} order, from ${commit.slice(0, 7)} and back ==`)
    const fleet = await startFleet(join(SWITCHHOOK_HOME, 'upgrade'), previous, {
      ...SETTINGS,
      // The whole load is one client, so its rate limit must never apply.
      RATE_LIMIT: '999999999/1m',
    })
    try {
      await runUpgrade(fleet, phasesOf(order), say)
    } finally {
      await fleet.stop()
    }
  }
}

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
