import type { Injection } from './faults/inject.ts'
import { FAULT_KINDS, killsWorker, nameOfKind } from './faults/plan.ts'
import type { LoadResult } from './load/start-load.ts'
import type { ChaosOptions } from './options.ts'
import type { Problem } from './reconcile/problem.ts'
import type { ChaosResult } from './run-chaos.ts'

/** The name and the value of each figure. */
export type Rows = readonly (readonly [string, string | number])[]

/** The figures of every run under load. */
export const figuresOf = (of: LoadResult): Rows => [
  ['events', of.events],
  ['call legs', of.legs],
  ['deliveries owed', of.deliveries],
  ['acknowledged', of.acknowledged],
  ['parked as rejected', of.parked],
  ['expired, each explained by the api', of.expired],
  ['parked, then sent again by a recovery', of.recovered],
  ['of these, parked as exhausted', of.exhausted],
  ['parked, pulled or expired deliveries lost with writes of Redis', of.forgotten],
  ['sequence numbers used again after Redis lost writes', of.repeated],
  ['deliveries of events recorded again after Redis lost writes', of.recordedAgain],
  ['notices repeated with another body after Redis lost writes', of.changedNotices],
  ['deliveries lost with the broker', of.lostWithBroker],
  ['changes that had to stop first attempts', of.closures],
  ['notices', `${of.notices.parked} parked, ${of.notices.failing} failing, ${of.notices.recovered} recovered`],
  ['POSTs, each with its signature verified', of.posts],
  ['duplicates', `${of.duplicates} (${((100 * of.duplicates) / Math.max(1, of.posts)).toFixed(2)} %)`],
  ['attempt numbers that went back around a fault', of.stepsBack],
  ['attempts repeated around a fault that leaves duplicates', of.repeatedAttempts],
  ['answers of the api', answersInWords(of.answers)],
  ['lost or otherwise wrong', of.problems.length],
]

/** The rows of the summary of the fault suite. */
export function summaryOf(result: ChaosResult): Rows {
  const { injections, repeatedPublishes, receiverKills } = result
  const applied = injections.filter(({ skipped }) => skipped === undefined)
  const recoveries = applied.map(({ fromMs, toMs }) => toMs - fromMs)
  const skipped = injections.length - recoveries.length
  const workerKills = applied.filter(({ fault }) => killsWorker(fault))
  const whileHeld = workerKills.filter(({ heldPackets }) => heldPackets > 0).length
  return [
    ['faults', `${recoveries.length}${skipped > 0 ? ` (${skipped} skipped)` : ''}`],
    ['load', `${secondsOf(result.loadMs)} s, then ${secondsOf(result.settlingMs)} s until the last delivery had ended`],
    ['longest recovery', `${longest(recoveries)} s`],
    ['kills of a worker while workers held packets', `${whileHeld} of ${workerKills.length}`],
    ['kills of the receivers with SQLite and PostgreSQL', receiverKills],
    ['events that each applied exactly once', Math.floor(result.applied / 2)],
    ['publishes repeated because no confirm came', repeatedPublishes],
    ...figuresOf(result),
  ]
}

/** Per kind of problem. */
const MAX_SHOWN = 25

/** Describes each problem in a line. Of many problems of one kind, only the first are shown, with the number of others. */
const linesOf = (problems: readonly Problem[]): readonly string[] =>
  [...Map.groupBy(problems, ({ kind }) => kind)].flatMap(([kind, of]) => {
    const shown = of.slice(0, MAX_SHOWN).map(({ what }) => `${kind}: ${what}`)
    return of.length > MAX_SHOWN ? [...shown, `${kind}: ${of.length - MAX_SHOWN} more`] : shown
  })

/** Prints the figures of a run, its first problems and the verdict. A problem makes the process exit with code 1. */
export function conclude(
  rows: Rows,
  problems: readonly Problem[],
  verdict: { readonly good: string; readonly bad: string },
): void {
  const figures = rows.map(([name, value]) => `  ${name.padEnd(50)} ${value}`)
  const shown = linesOf(problems).map((line) => `  ${line}`)
  console.log(['', ...figures, '', ...shown, problems.length === 0 ? verdict.good : verdict.bad].join('\n'))
  if (problems.length > 0) process.exitCode = 1
}

/** The number of answers by status. */
const answersInWords = (answers: ReadonlyMap<number, number>): string =>
  [...answers]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${count} × ${status === 0 ? 'no answer' : status}`)
    .join(', ')

/** A row for each kind of fault: how often it struck and was skipped, and the median and longest time until the recovery. */
function rowsByKind(injections: readonly Injection[]): string[] {
  const kinds = Map.groupBy(injections, ({ fault }) => nameOfKind(fault))
  return [...kinds]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([kind, of]) => {
      const timesMs = of.flatMap(({ fromMs, toMs, skipped }) => (skipped === undefined ? toMs - fromMs : []))
      const cells = [kind, timesMs.length, of.length - timesMs.length, secondsOf(median(timesMs)), longest(timesMs)]
      return `| ${cells.join(' | ')} |`
    })
}

/** Renders the faults and the result as Markdown. */
export function renderReport(result: ChaosResult, { SEED, KILLS, FAULTS }: ChaosOptions): string {
  const problems = linesOf(result.problems)
  const rows = summaryOf(result).map(([name, value]) => `| ${name} | ${value} |`)
  const only = FAULTS.length < FAULT_KINDS.length ? ` FAULTS=${FAULTS.join(',')}` : ''
  const isWhole = result.injections.length >= KILLS * SEED.length
  return `# Fault suite

What was killed, cut and frozen under load in the last run of \`make chaos\` (${new Date().toISOString().slice(0, 10)}), and with
which result:

\`\`\`sh
make chaos KILLS=${KILLS} SEED=${SEED.join(',')}${only} REPORT=docs/fault-suite.md
\`\`\`

The run wrote this page.${isWhole ? '' : ' It was ended early, with fewer faults than the command names.'} [The fault suite](../tools/chaos/README.md) describes the load, the faults, every check and what
Redis may lose.

${problems.length === 0 ? '**Result: nothing was lost, and every check passed.**' : `**Result: something is wrong.**\n\n${problems.map((line) => `- ${line}`).join('\n')}`}

| figure | value |
| --- | --- |
${rows.join('\n')}

## Faults and recovery times

In seconds, from the fault until every service was ready and a new event was delivered. The time includes the duration of
the fault itself. A fault may strike before the recovery from the previous one has ended. A fault is skipped if it cannot
be applied, for example because another fault has just killed its target.

| fault | times | skipped | median | longest |
| --- | --- | --- | --- | --- |
${rowsByKind(result.injections).join('\n')}
`
}

export const secondsOf = (ms: number): string => (ms / 1_000).toFixed(1)
const longest = (timesMs: readonly number[]): string => secondsOf(Math.max(0, ...timesMs))

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
