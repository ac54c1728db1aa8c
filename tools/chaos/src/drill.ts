import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig, text } from '@switchhook/runtime'
import { openBackups } from './drill/backups.ts'
import { type DrillKind, type DrillResult, runDrill } from './drill/drill.ts'
import type { Reconciliation } from './reconcile/reconcile.ts'
import { renderTable } from './report.ts'
import { SETTINGS } from './settings.ts'
import { startChaosStack } from './stack/chaos-stack.ts'

const say = (line: string): void => console.log(line)

const KINDS: readonly DrillKind[] = ['redis', 'broker']
const isKind = (name: string): name is DrillKind => KINDS.some((kind) => kind === name)

const fields = { DRILLS: text(KINDS.join(',')), SWITCHHOOK_HOME: text('.local') }

/** Loses Redis, then, on a stack of its own, the broker; restores each, and checks what receivers saw (docs/backup.md). */
async function main(): Promise<void> {
  const { DRILLS, SWITCHHOOK_HOME } = loadConfig(fields, process.env, [
    ({ DRILLS }) =>
      DRILLS.split(',').every(isKind) ? undefined : `DRILLS must be some of ${KINDS.join(', ')}, separated by commas`,
  ])
  const home = join(SWITCHHOOK_HOME, 'drill')
  for (const kind of DRILLS.split(',').filter(isKind)) {
    say(`\n== ${kind} lost and restored ==`)
    // The drill deletes data folders, so RabbitMQ and Redis must be programs of this machine.
    const stack = await startChaosStack(home, { ...process.env, ...SETTINGS, BACKING: 'local' }, say)
    const copies = join(SWITCHHOOK_HOME, 'drill-backups')
    mkdirSync(copies, { recursive: true })
    try {
      if (!report(await runDrill(kind, stack, openBackups(copies), say))) process.exitCode = 1
    } finally {
      await stack.stop()
      for (const folder of [home, copies]) rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** The figures that only one of the drills has. */
const figuresOf: Readonly<
  Record<DrillKind, (reconciliation: Reconciliation, unfinished: number) => readonly [string, string][]>
> = {
  redis: ({ repeated, recordedAgain, forgotten, changedNotices }) => [
    ['sequence numbers used again', String(repeated)],
    ['deliveries of events recorded again', String(recordedAgain)],
    ['parked records lost', String(forgotten)],
    ['parked notices repeated with other attempts', String(changedNotices)],
  ],
  broker: ({ lostWithBroker }, unfinished) => [
    ['deliveries lost with the broker', String(lostWithBroker)],
    ['deliveries that the delivery log shows as unfinished', String(unfinished)],
  ],
}

/** Prints the result. Returns whether everything was as promised. */
function report({ kind, findings, reconciliation, otherProblems, ...times }: DrillResult): boolean {
  const rows: [string, string][] = [
    ['from the backup to the loss', seconds(times.sinceBackupMs)],
    ['from the loss until all was well', seconds(times.recoveryMs)],
    ['events', String(reconciliation.events)],
    ['deliveries owed', String(reconciliation.deliveries)],
    ['acknowledged', String(reconciliation.acknowledged)],
    ['parked as rejected', String(reconciliation.parked)],
    ['POSTs of deliveries that were acknowledged before', String(reconciliation.duplicates)],
    ...figuresOf[kind](reconciliation, times.unfinished),
    ['lost without an excuse, or otherwise wrong', String(reconciliation.problems.length + otherProblems.length)],
  ]
  say(`\n${renderTable(rows)}\n`)
  for (const { what, holds } of findings) say(`  ${holds ? 'yes' : 'NO '}  ${what}`)
  const problems = [...reconciliation.problems.map(({ kind, what }) => `${kind}: ${what}`), ...otherProblems]
  for (const problem of problems.slice(0, MOST_SHOWN)) say(`  ${problem}`)
  const isWell = problems.length === 0 && findings.every(({ holds }) => holds)
  say(isWell ? 'the restore did what docs/backup.md promises' : 'something is wrong')
  return isWell
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

const MOST_SHOWN = 20

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
