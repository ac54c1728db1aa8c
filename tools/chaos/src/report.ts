import { SCHEDULE_MS } from './check-exhausted.ts'
import { LONG_MS } from './judge-notices.ts'
import { FAULT_KINDS, type FaultKind, nameOfKind } from './plan.ts'
import type { ChaosResult } from './run-chaos.ts'
import type { Strike } from './strike.ts'

/** The rows of a table: a figure's name and its value. */
export function summaryOf({
  strikes,
  verdict,
  faults,
  answers,
  repeatedPublishes,
  ...times
}: ChaosResult): [string, string][] {
  const list = [...answers].toSorted(([a], [b]) => a - b)
  const recoveries = strikes.filter(({ skipped }) => skipped === undefined).map(({ fromMs, toMs }) => toMs - fromMs)
  const skipped = strikes.length - recoveries.length
  const { parked, failing, recovered } = verdict.notices
  return [
    ['faults', `${recoveries.length}${skipped > 0 ? ` (${skipped} skipped)` : ''}`],
    ['load', `${seconds(times.loadMs)} s, then ${seconds(times.settlingMs)} s until the last delivery had ended`],
    ['longest recovery', `${seconds(Math.max(0, ...recoveries))} s`],
    ['events', String(verdict.events)],
    ['publishes repeated because no confirm came', String(repeatedPublishes)],
    ['call legs', String(verdict.legs)],
    [
      'answers of the api',
      list.map(([status, count]) => `${count} × ${status === 0 ? 'no answer' : status}`).join(', '),
    ],
    ['deliveries owed', String(verdict.deliveries)],
    ['acknowledged', String(verdict.acknowledged)],
    ['parked as rejected', String(verdict.parked)],
    ['parked, then sent again by a recovery', String(verdict.recovered)],
    ['of these parked as exhausted', String(verdict.exhausted)],
    ['parked records lost with writes of Redis', String(verdict.forgotten)],
    ['sequence numbers used again after Redis lost writes', String(verdict.repeated)],
    ['deliveries of events recorded again after Redis lost writes', String(verdict.recordedAgain)],
    ['parked notices repeated with other attempts after Redis lost writes', String(verdict.retold)],
    ['changes that had to stop first attempts', String(verdict.closures)],
    ['notices', `${parked} parked, ${failing} failing, ${recovered} recovered`],
    ['lost or otherwise wrong', String(verdict.problems.length + faults.length)],
    ['POSTs, each with its signature verified', String(verdict.posts)],
    ['duplicates', `${verdict.duplicates} (${((100 * verdict.duplicates) / Math.max(1, verdict.posts)).toFixed(2)} %)`],
    ['attempt numbers that went back around a fault', String(verdict.stepsBack)],
  ]
}

/** Problems of one kind. */
const MOST_SHOWN = 10

/** What is wrong, a line each. Of many problems of one kind the first ones are shown, and how many there are. */
export function complaintsOf({ verdict, faults }: ChaosResult): readonly string[] {
  const kinds = new Set(verdict.problems.map(({ kind }) => kind))
  const problems = [...kinds].flatMap((kind) => {
    const of = verdict.problems.filter((problem) => problem.kind === kind)
    const shown = of.slice(0, MOST_SHOWN).map(({ what }) => `${kind}: ${what}`)
    return of.length > MOST_SHOWN ? [...shown, `${kind}: ${of.length - MOST_SHOWN} more`] : shown
  })
  return [...faults, ...problems]
}

export const renderTable = (rows: readonly [string, string][]): string =>
  rows.map(([name, value]) => `  ${name.padEnd(50)} ${value}`).join('\n')

interface KindRow {
  readonly recoveriesMs: number[]
  skipped: number
}

function rowsByKind(strikes: readonly Strike[]): [string, KindRow][] {
  const kinds = new Map<string, KindRow>()
  for (const { fault, fromMs, toMs, skipped } of strikes) {
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

/** Markdown: which faults struck, and the result. */
export function renderReport(result: ChaosResult, { seeds, kills, kinds }: Run): string {
  const complaints = complaintsOf(result)
  const rows = summaryOf(result).map(([name, value]) => `| ${name} | ${value} |`)
  const only = kinds.length < FAULT_KINDS.length ? ` FAULTS=${kinds.join(',')}` : ''
  const faults = rowsByKind(result.strikes).map(
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

${complaints.length === 0 ? '**Result: nothing was lost, and every check passed.**' : `**Result: something is wrong.**\n\n${complaints.map((line) => `- ${line}`).join('\n')}`}

## Figures

| figure | value |
| --- | --- |
${rows.join('\n')}

## Faults and recovery times

From the fault until every service was ready and a new event arrived at its endpoint, in seconds. The time includes the duration of
faults that last, such as a frozen connection. A fault may strike while the previous one is still being recovered from. A
fault is skipped if its target is out of reach, for example because another fault has just taken it away.

| fault | times | skipped | median | longest |
| --- | --- | --- | --- | --- |
${faults.join('\n')}

## What was checked

- **Deliveries.** Every confirmed event reached every subscription to its type, or is parked because its receiver rejected it. No queue
  holds a message in the end, and the quarantine is empty.
- **Bodies and headers.** They are the same at every attempt of a delivery. Attempt numbers count from 1.
- **Signatures.** Every POST is verified by the \`standardwebhooks\` library. While secrets rotate, it is signed with every secret
  that is valid at that time, and never only with retired ones.
- **DELETE and PATCH.** No first attempt begins to arrive after the api has answered a DELETE, a disable, or the removal of an event type.
  Retries of earlier failures still arrive.
- **Exhausted deliveries.** An endpoint stays away for longer than the schedule of ${SCHEDULE_MS / 1_000} s. Its deliveries are parked as \`exhausted\`, their tenant
  gets a notice, and a recovery sends them again when the endpoint is back.
- **[Notices](notices.md).** Each run that ended parked is reported to both ops subscriptions, and so is an endpoint that was away for
  ${LONG_MS / 1_000} s without another fault. No notice is about a notice. \`recovered\` notices are not promised.
- **Recoveries.** A recovery of parked deliveries continues while the api replicas are killed. It sends each delivery in one run.
- **Calls.** The events of each call and each agent are numbered from 1 without a gap, and each call has an end.
- **Processes.** No process ended unless a fault ended it, and all of them stop on SIGTERM in time.

## What Redis may lose

Two faults take writes away from Redis on purpose. After \`redis restored from a copy\`, everything that was committed after
the copy is gone. Only this may be missing:

- calls that began at that time, and events that were committed but not yet published. Their sequence numbers are used again, by events with
  other ids;
- parked records of that time. The figures above count them.

After \`redis empty\`, only what was committed to the empty Redis may be missing. Deliveries in the broker must all arrive.
`
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
