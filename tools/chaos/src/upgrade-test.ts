import { join } from 'node:path'
import { buildVersion, commitOf, PREVIOUS_VERSION, startFleet } from '@switchhook/local'
import { loadConfig, text } from '@switchhook/runtime'
import { renderTable } from './report.ts'
import { SETTINGS } from './settings.ts'
import { ORDERS, type Order, phasesOf } from './upgrade/phases.ts'
import { runUpgrade, type UpgradeResult } from './upgrade/run-upgrade.ts'

const say = (line: string): void => console.log(line)

const isOrder = (name: string): name is Order => ORDERS.some((order) => order === name)

const fields = { FROM: text(PREVIOUS_VERSION), ORDER: text(ORDERS.join(',')), SWITCHHOOK_HOME: text('.local') }

/** Updates from another commit to this one and back, under load, and checks what receivers saw (docs/upgrades.md). */
async function main(): Promise<void> {
  const { FROM, ORDER, SWITCHHOOK_HOME } = loadConfig(fields, process.env, [
    ({ ORDER }) =>
      ORDER.split(',').every(isOrder) ? undefined : `ORDER must be some of ${ORDERS.join(', ')}, separated by commas`,
  ])
  const commit = commitOf(FROM)
  say(`building ${commit}`)
  const previous = await buildVersion(commit)
  for (const order of ORDER.split(',').filter(isOrder)) {
    say(`\n== ${order} order, from ${commit.slice(0, 7)} and back ==`)
    const fleet = await startFleet(join(SWITCHHOOK_HOME, 'upgrade'), previous, {
      ...SETTINGS,
      // The whole load is one client, so its rate limit must never apply.
      RATE_LIMIT: '999999999/1m',
    })
    try {
      if (!report(await runUpgrade(fleet, phasesOf(order), say))) process.exitCode = 1
    } finally {
      await fleet.stop()
    }
  }
}

/** Prints the result. Returns whether nothing was lost. */
function report({ reconciliation, unusual, answers }: UpgradeResult): boolean {
  const problems = [...reconciliation.problems.map(({ kind, what }) => `${kind}: ${what}`), ...unusual]
  const statuses = [...answers].toSorted(([a], [b]) => a - b)
  say(
    `\n${renderTable([
      ['events', String(reconciliation.events)],
      ['call legs', String(reconciliation.legs)],
      ['deliveries owed', String(reconciliation.deliveries)],
      ['acknowledged', String(reconciliation.acknowledged)],
      ['parked as rejected', String(reconciliation.parked)],
      ['POSTs', String(reconciliation.posts)],
      ['POSTs of deliveries that were acknowledged before', String(reconciliation.duplicates)],
      ['attempt numbers that went back', String(reconciliation.stepsBack)],
      [
        'answers of the api',
        statuses.map(([status, count]) => `${count} × ${status === 0 ? 'no answer' : status}`).join(', '),
      ],
      ['lost or otherwise wrong', String(problems.length)],
    ])}\n`,
  )
  for (const problem of problems.slice(0, MOST_SHOWN)) say(`  ${problem}`)
  say(problems.length === 0 ? 'nothing was lost' : 'something is wrong')
  return problems.length === 0
}

const MOST_SHOWN = 20

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
