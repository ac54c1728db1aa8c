import { join } from 'node:path'
import { buildVersion, commitOf, PREVIOUS_VERSION, startFleet } from '@switchhook/local'
import { loadConfig, text } from '@switchhook/runtime'
import { someOf } from './options.ts'
import { answersInWords, conclude, problemsOf } from './report.ts'
import { SETTINGS } from './settings.ts'
import { ORDERS, phasesOf } from './upgrade/phases.ts'
import { runUpgrade, type UpgradeResult } from './upgrade/run-upgrade.ts'

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
      report(await runUpgrade(fleet, phasesOf(order), say))
    } finally {
      await fleet.stop()
    }
  }
}

function report({ reconciliation, unusual, answers }: UpgradeResult): void {
  const problems = problemsOf({ reconciliation, otherProblems: unusual })
  const rows: [string, string | number][] = [
    ['events', reconciliation.events],
    ['call legs', reconciliation.legs],
    ['deliveries owed', reconciliation.deliveries],
    ['acknowledged', reconciliation.acknowledged],
    ['parked as rejected', reconciliation.parked],
    ['POSTs', reconciliation.posts],
    ['POSTs of deliveries that were acknowledged before', reconciliation.duplicates],
    ['attempt numbers that went back', reconciliation.stepsBack],
    ['attempts repeated around an update', reconciliation.repeatedAttempts],
    ['answers of the api', answersInWords(answers)],
    ['lost or otherwise wrong', reconciliation.problems.length + unusual.length],
  ]
  conclude(rows, problems, { good: 'nothing was lost', bad: 'something is wrong' })
}

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
