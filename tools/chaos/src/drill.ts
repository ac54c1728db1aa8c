import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig, text } from '@switchhook/runtime'
import { openBackups } from './drill/backups.ts'
import { type DrillKind, type DrillResult, runDrill } from './drill/drill.ts'
import { someOf } from './options.ts'
import { conclude, problemsOf } from './report.ts'
import { SETTINGS } from './settings.ts'
import { startChaosStack } from './stack/chaos-stack.ts'

const say = (line: string): void => console.log(line)

const KINDS: readonly DrillKind[] = ['redis', 'broker']
const fields = { DRILLS: someOf(KINDS), SWITCHHOOK_HOME: text('.local') }

/** Loses Redis, then, on a stack of its own, the broker; restores each, and checks what receivers saw (docs/backup.md). */
async function main(): Promise<void> {
  const { DRILLS, SWITCHHOOK_HOME } = loadConfig(fields, process.env)
  const home = join(SWITCHHOOK_HOME, 'drill')
  for (const kind of DRILLS) {
    say(`\n== ${kind} lost and restored ==`)
    // The drill deletes data folders, so RabbitMQ and Redis must be programs of this machine.
    const stack = await startChaosStack(home, { ...process.env, ...SETTINGS, BACKING: 'local' }, say)
    const copies = join(SWITCHHOOK_HOME, 'drill-backups')
    mkdirSync(copies, { recursive: true })
    try {
      report(await runDrill(kind, stack, openBackups(copies), say))
    } finally {
      await stack.stop()
      for (const folder of [home, copies]) rmSync(folder, { recursive: true, force: true })
    }
  }
}

function report({ kind, findings, reconciliation, otherProblems, ...times }: DrillResult): void {
  for (const { what, holds } of findings) say(`  ${holds ? 'yes' : 'NO '}  ${what}`)
  const problems = [
    ...findings.filter(({ holds }) => !holds).map(({ what }) => `does not hold: ${what}`),
    ...problemsOf({ reconciliation, otherProblems }),
  ]
  const figures: [string, number][] =
    kind === 'redis'
      ? [
          ['sequence numbers used again', reconciliation.repeated],
          ['deliveries of events recorded again', reconciliation.recordedAgain],
          ['parked records lost', reconciliation.forgotten],
          ['notices repeated with another body', reconciliation.changedNotices],
        ]
      : [
          ['deliveries lost with the broker', reconciliation.lostWithBroker],
          ['deliveries that the delivery log shows as unfinished', times.unfinished],
        ]
  const rows: [string, string | number][] = [
    ['from the backup to the loss', seconds(times.sinceBackupMs)],
    ['from the loss until all was well', seconds(times.recoveryMs)],
    ['events', reconciliation.events],
    ['deliveries owed', reconciliation.deliveries],
    ['acknowledged', reconciliation.acknowledged],
    ['parked as rejected', reconciliation.parked],
    ['POSTs of deliveries that were acknowledged before', reconciliation.duplicates],
    ...figures,
    ['lost without an excuse, or otherwise wrong', reconciliation.problems.length + otherProblems.length],
  ]
  conclude(rows, problems, { good: 'the restore did what docs/backup.md promises', bad: 'something is wrong' })
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
