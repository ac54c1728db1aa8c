import type { Injection } from './faults/inject.ts'
import { FAULT_KINDS, type FaultKind, nameOfKind } from './faults/plan.ts'
import { SCHEDULE_MS } from './reconcile/check-exhausted.ts'
import { REPORTED_OUTAGE_MS } from './reconcile/check-notices.ts'
import type { ChaosResult } from './run-chaos.ts'

/** The rows of the summary: the name and the value of each figure. */
export function summaryOf({
  injections,
  reconciliation,
  otherProblems,
  answers,
  repeatedPublishes,
  ...times
}: ChaosResult): [string, string][] {
  const list = [...answers].toSorted(([a], [b]) => a - b)
  const recoveries = injections.filter(({ skipped }) => skipped === undefined).map(({ fromMs, toMs }) => toMs - fromMs)
  const skipped = injections.length - recoveries.length
  const { parked, failing, recovered } = reconciliation.notices
  return [
    ['faults', `${recoveries.length}${skipped > 0 ? ` (${skipped} skipped)` : ''}`],
    ['load', `${seconds(times.loadMs)} s, then ${seconds(times.settlingMs)} s until the last delivery had ended`],
    ['longest recovery', `${seconds(Math.max(0, ...recoveries))} s`],
    ['events', String(reconciliation.events)],
    ['publishes repeated because no confirm came', String(repeatedPublishes)],
    ['call legs', String(reconciliation.legs)],
    [
      'answers of the api',
      list.map(([status, count]) => `${count} × ${status === 0 ? 'no answer' : status}`).join(', '),
    ],
    ['deliveries owed', String(reconciliation.deliveries)],
    ['acknowledged', String(reconciliation.acknowledged)],
    ['parked as rejected', String(reconciliation.parked)],
    ['parked, then sent again by a recovery', String(reconciliation.recovered)],
    ['of these, parked as exhausted', String(reconciliation.exhausted)],
    ['parked records lost with writes of Redis', String(reconciliation.forgotten)],
    ['sequence numbers used again after Redis lost writes', String(reconciliation.repeated)],
    ['deliveries of events recorded again after Redis lost writes', String(reconciliation.recordedAgain)],
    ['parked notices repeated with other attempts after Redis lost writes', String(reconciliation.changedNotices)],
    ['changes that had to stop first attempts', String(reconciliation.closures)],
    ['notices', `${parked} parked, ${failing} failing, ${recovered} recovered`],
    ['lost or otherwise wrong', String(reconciliation.problems.length + otherProblems.length)],
    ['POSTs, each with its signature verified', String(reconciliation.posts)],
    [
      'duplicates',
      `${reconciliation.duplicates} (${((100 * reconciliation.duplicates) / Math.max(1, reconciliation.posts)).toFixed(2)} %)`,
    ],
    ['attempt numbers that went back around a fault', String(reconciliation.stepsBack)],
  ]
}

/** Per kind of problem. */
const MOST_SHOWN = 10

/** Describes each problem in a line. Of many problems of one kind, only the first are shown, with the number of others. */
export function problemsOf({ reconciliation, otherProblems }: ChaosResult): readonly string[] {
  const kinds = new Set(reconciliation.problems.map(({ kind }) => kind))
  const problems = [...kinds].flatMap((kind) => {
    const of = reconciliation.problems.filter((problem) => problem.kind === kind)
    const shown = of.slice(0, MOST_SHOWN).map(({ what }) => `${kind}: ${what}`)
    return of.length > MOST_SHOWN ? [...shown, `${kind}: ${of.length - MOST_SHOWN} more`] : shown
  })
  return [...otherProblems, ...problems]
}

export const renderTable = (rows: readonly [string, string][]): string =>
  rows.map(([name, value]) => `  ${name.padEnd(50)} ${value}`).join('\n')

interface KindRow {
  readonly recoveriesMs: number[]
  skipped: number
}

function rowsByKind(injections: readonly Injection[]): [string, KindRow][] {
  const kinds = new Map<string, KindRow>()
  for (const { fault, fromMs, toMs, skipped } of injections) {
    const name = nameOfKind(fault)
    const row = kinds.get(name) ?? { recoveriesMs: [], skipped: 0 }
    kinds.set(name, row)
    if (skipped === undefined) row.recoveriesMs.push(toMs - fromMs)
    else row.skipped += 1
  }
  return [...kinds].toSorted(([a], [b]) => a.localeCompare(b))
}

interface Run {
  readonly seeds: readonly number[]
  readonly kills: number
  readonly kinds: readonly FaultKind[]
}

/** Renders the faults and the result as Markdown. */
export function renderReport(result: ChaosResult, { seeds, kills, kinds }: Run): string {
  const problems = problemsOf(result)
  const rows = summaryOf(result).map(([name, value]) => `| ${name} | ${value} |`)
  const only = kinds.length < FAULT_KINDS.length ? ` FAULTS=${kinds.join(',')}` : ''
  const faults = rowsByKind(result.injections).map(
    ([kind, { recoveriesMs, skipped }]) =>
      `| ${kind} | ${recoveriesMs.length} | ${skipped} | ${seconds(median(recoveriesMs))} | ${seconds(Math.max(0, ...recoveriesMs))} |`,
  )
  return `# Fault suite

The last run of \`make chaos\`, on ${new Date().toISOString().slice(0, 10)}:

\`\`\`sh
make chaos KILLS=${kills} SEED=${seeds.join(',')}${only} REPORT=docs/fault-suite.md
\`\`\`

The run wrote this page. The seed decides which faults strike and in which order; how long each takes depends on the machine.
[CONTRIBUTING.md](../CONTRIBUTING.md#faults) describes the load and every check.

${problems.length === 0 ? '**Result: nothing was lost, and every check passed.**' : `**Result: something is wrong.**\n\n${problems.map((line) => `- ${line}`).join('\n')}`}

## Figures

| figure | value |
| --- | --- |
${rows.join('\n')}

## Faults and recovery times

In seconds, from the fault until every service was ready and a new event was delivered. The time includes the duration of
the fault itself, for example of a frozen connection. A fault may strike before the recovery from the previous one has
ended. A fault is skipped if it cannot be applied, for example because another fault has just killed its target.

| fault | times | skipped | median | longest |
| --- | --- | --- | --- | --- |
${faults.join('\n')}

## What was checked

- **Deliveries.** Every confirmed event reached every subscription to its type, or is parked because its receiver rejected
  it. At the end no queue holds a message, and the quarantine is empty.
- **Bodies and headers.** They are the same at every attempt of a delivery. Attempt numbers count from 1.
- **Signatures.** The \`standardwebhooks\` library verifies every POST. During a rotation, each POST is signed with every
  secret that is valid at that time, and never only with retired ones.
- **DELETE and PATCH.** No first attempt begins to arrive after the api has answered a DELETE, a disable, or the removal of
  an event type. Retries of earlier failures still arrive.
- **Exhausted deliveries.** An endpoint stays down for longer than the schedule of ${SCHEDULE_MS / 1_000} s. Its deliveries
  are parked as \`exhausted\`, their tenant gets a notice, and a recovery sends them again when the endpoint is back.
- **[Notices](notices.md).** Each run that ended parked is reported to both ops subscriptions, and so is an endpoint that
  was down for ${REPORTED_OUTAGE_MS / 1_000} s without another fault. No notice is about a notice. Switchhook does not promise
  \`recovered\` notices.
- **Recoveries.** A recovery of parked deliveries continues while the api replicas are killed. It sends each delivery in one run.
- **Calls.** The events of each call and each agent are numbered from 1 without a gap, and each call has an end.
- **Processes.** No process ended unless a fault ended it, and all of them stop on SIGTERM in time.

## What Redis may lose

Two faults make Redis lose writes. After \`redis restored from a copy\`, everything that was committed after the copy is
lost. Only this may be missing:

- calls that began in that time, and events that were committed but not yet published. Events with other ids use their
  sequence numbers again;
- parked records of that time. The figures above count them.

After \`redis empty\`, only what was committed to the empty Redis may be missing. All deliveries in the broker must arrive.
`
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
