import type { Injection } from './faults/inject.ts'
import { FAULT_KINDS, killsWorker, nameOfKind } from './faults/plan.ts'
import type { ChaosOptions } from './options.ts'
import type { ChaosResult } from './run-chaos.ts'

/** The rows of the summary: the name and the value of each figure. */
export function summaryOf({
  injections,
  reconciliation,
  otherProblems,
  answers,
  repeatedPublishes,
  receiverKills,
  ...times
}: ChaosResult): [string, string | number][] {
  const applied = injections.filter(({ skipped }) => skipped === undefined)
  const recoveries = applied.map(({ fromMs, toMs }) => toMs - fromMs)
  const skipped = injections.length - recoveries.length
  const workerKills = applied.filter(({ fault }) => killsWorker(fault))
  const { parked, failing, recovered } = reconciliation.notices
  return [
    ['faults', `${recoveries.length}${skipped > 0 ? ` (${skipped} skipped)` : ''}`],
    ['load', `${seconds(times.loadMs)} s, then ${seconds(times.settlingMs)} s until the last delivery had ended`],
    ['longest recovery', `${longest(recoveries)} s`],
    [
      'kills of a worker while workers held packets',
      `${workerKills.filter(({ heldPackets }) => heldPackets > 0).length} of ${workerKills.length}`,
    ],
    ['events', reconciliation.events],
    ['publishes repeated because no confirm came', repeatedPublishes],
    ['call legs', reconciliation.legs],
    ['answers of the api', answersInWords(answers)],
    ['deliveries owed', reconciliation.deliveries],
    ['acknowledged', reconciliation.acknowledged],
    ['parked as rejected', reconciliation.parked],
    ['expired, each explained by the api', reconciliation.expired],
    ['parked, then sent again by a recovery', reconciliation.recovered],
    ['of these, parked as exhausted', reconciliation.exhausted],
    ['parked, pulled or expired deliveries lost with writes of Redis', reconciliation.forgotten],
    ['sequence numbers used again after Redis lost writes', reconciliation.repeated],
    ['deliveries of events recorded again after Redis lost writes', reconciliation.recordedAgain],
    ['notices repeated with another body after Redis lost writes', reconciliation.changedNotices],
    ['changes that had to stop first attempts', reconciliation.closures],
    ['notices', `${parked} parked, ${failing} failing, ${recovered} recovered`],
    ['kills of the receivers with SQLite and PostgreSQL', receiverKills],
    ['events that each applied exactly once', Math.floor(reconciliation.applied / 2)],
    ['lost or otherwise wrong', reconciliation.problems.length + otherProblems.length],
    ['POSTs, each with its signature verified', reconciliation.posts],
    [
      'duplicates',
      `${reconciliation.duplicates} (${((100 * reconciliation.duplicates) / Math.max(1, reconciliation.posts)).toFixed(2)} %)`,
    ],
    ['attempt numbers that went back around a fault', reconciliation.stepsBack],
    ['attempts repeated around a fault that leaves copies', reconciliation.repeatedAttempts],
  ]
}

/** Per kind of problem. */
const MAX_SHOWN = 10

/** Describes each problem in a line. Of many problems of one kind, only the first are shown, with the number of others. */
export function problemsOf({
  reconciliation,
  otherProblems,
}: Pick<ChaosResult, 'reconciliation' | 'otherProblems'>): readonly string[] {
  const kinds = new Set(reconciliation.problems.map(({ kind }) => kind))
  const problems = [...kinds].flatMap((kind) => {
    const of = reconciliation.problems.filter((problem) => problem.kind === kind)
    const shown = of.slice(0, MAX_SHOWN).map(({ what }) => `${kind}: ${what}`)
    return of.length > MAX_SHOWN ? [...shown, `${kind}: ${of.length - MAX_SHOWN} more`] : shown
  })
  return [...otherProblems, ...problems]
}

/** Prints the figures of a run, its first problems and the verdict. A problem makes the process exit with code 1. */
export function conclude(
  rows: readonly [string, string | number][],
  problems: readonly string[],
  verdict: { readonly good: string; readonly bad: string },
): void {
  const figures = rows.map(([name, value]) => `  ${name.padEnd(50)} ${value}`)
  const shown = problems.slice(0, MAX_LINES).map((problem) => `  ${problem}`)
  console.log(['', ...figures, '', ...shown, problems.length === 0 ? verdict.good : verdict.bad].join('\n'))
  if (problems.length > 0) process.exitCode = 1
}

const MAX_LINES = 100

/** The number of answers by status. */
export const answersInWords = (answers: ReadonlyMap<number, number>): string =>
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
      const cells = [kind, timesMs.length, of.length - timesMs.length, seconds(median(timesMs)), longest(timesMs)]
      return `| ${cells.join(' | ')} |`
    })
}

/** Renders the faults and the result as Markdown. */
export function renderReport(result: ChaosResult, { seeds, kills, kinds }: ChaosOptions): string {
  const problems = problemsOf(result)
  const rows = summaryOf(result).map(([name, value]) => `| ${name} | ${value} |`)
  const only = kinds.length < FAULT_KINDS.length ? ` FAULTS=${kinds.join(',')}` : ''
  return `# Fault suite

What was killed, cut and frozen under load in the last run of \`make chaos\` (${new Date().toISOString().slice(0, 10)}), and with
which result:

\`\`\`sh
make chaos KILLS=${kills} SEED=${seeds.join(',')}${only} REPORT=docs/fault-suite.md
\`\`\`

The run wrote this page. [CONTRIBUTING.md](../CONTRIBUTING.md#faults) describes the load, the faults, every check and what
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

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)
const longest = (timesMs: readonly number[]): string => seconds(Math.max(0, ...timesMs))

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
