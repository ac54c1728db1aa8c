import { LONG_MS } from './judge-notices.ts'
import { describeFault } from './plan.ts'
import type { ChaosResult } from './run-chaos.ts'
import type { Strike } from './strike.ts'

/** Lines of a table: what, and how much of it. */
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
  return [
    [
      'faults',
      `${recoveries.length}${recoveries.length < strikes.length ? ` (${strikes.length - recoveries.length} skipped)` : ''}`,
    ],
    ['load', `${seconds(times.loadMs)} s, then ${seconds(times.settlingMs)} s until all was dealt with`],
    ['longest recovery', `${seconds(Math.max(0, ...recoveries))} s`],
    ['events', String(verdict.events)],
    ['publishes repeated for want of a confirm', String(repeatedPublishes)],
    ['call legs', String(verdict.legs)],
    ['answers of the api', list.map(([status, count]) => `${count} × ${status === 0 ? 'none' : status}`).join(', ')],
    ['deliveries owed', String(verdict.deliveries)],
    ['acknowledged', String(verdict.acknowledged)],
    ['parked, rejected by their receiver', String(verdict.parked)],
    ['parked, then sent again by a recovery', String(verdict.recovered)],
    [
      'notices',
      `${verdict.notices.parked} of parked, ${verdict.notices.failing} of failing, ${verdict.notices.recovered} of recovered`,
    ],
    ['lost or otherwise wrong', String(verdict.problems.length + faults.length)],
    ['POSTs, each with its signature verified', String(verdict.posts)],
    ['duplicates', `${verdict.duplicates} (${((100 * verdict.duplicates) / Math.max(1, verdict.posts)).toFixed(2)} %)`],
    ['attempt numbers that stepped back around a fault', String(verdict.stepsBack)],
  ]
}

/** Of one kind. */
const MOST_SHOWN = 10

/** What is wrong, a line each; of many of a kind the first ones and how many there are. */
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

/** `kill -9 api`, `connections to redis cut` …: how often, and how long until all was well again, in ms. */
function recoveriesByKind(strikes: readonly Strike[]): [string, number[]][] {
  const kinds = new Map<string, number[]>()
  for (const { fault, fromMs, toMs, skipped } of strikes) {
    if (skipped !== undefined) continue
    const kind = describeFault(fault)
      .replace(/ for .*$/, '')
      .replace(/-\d+$/, '')
    kinds.set(kind, [...(kinds.get(kind) ?? []), toMs - fromMs])
  }
  return [...kinds].toSorted(([a], [b]) => a.localeCompare(b))
}

/** Markdown: what struck, and what came of it. */
export function renderReport(
  result: ChaosResult,
  { seeds, kills }: { seeds: readonly number[]; kills: number },
): string {
  const complaints = complaintsOf(result)
  const kinds = recoveriesByKind(result.strikes).map(
    ([kind, recoveries]) =>
      `| ${kind} | ${recoveries.length} | ${seconds(median(recoveries))} | ${seconds(Math.max(...recoveries))} |`,
  )
  const rows = summaryOf(result).map(([name, value]) => `| ${name} | ${value} |`)
  return `# Faults

Written by \`make chaos KILLS=${kills} SEED=${seeds.join(',')} REPORT=docs/fault-suite.md\`; the seed decides what strikes and when, the machine how long it
takes. ${new Date().toISOString().slice(0, 10)}. [CONTRIBUTING.md](../CONTRIBUTING.md#faults) says what is checked.

${complaints.length === 0 ? 'Nothing was lost.' : `**Something is wrong:**\n\n${complaints.map((line) => `- ${line}`).join('\n')}`}

## What came of the load

| | |
| --- | --- |
${rows.join('\n')}

## What is covered

- Every POST that arrived whole is verified, none is left out: its signature by the public \`standardwebhooks\` library with the secret that the subscription
  got on create, \`webhook-id\` and the \`X-SVC-…\` headers beside the body. Body and headers, but for the attempt, are the same at
  every attempt of a delivery.
- Two ops subscriptions for [notices](notices.md), one at an endpoint that is well, one at an endpoint that rejects some of them: each run of a delivery that is
  parked in the end, or was when the recovery began, is told to both; a notice that is repeated has the same ids and bytes; none is of a delivery of a notice,
  and none of a delivery that nobody rejected. An endpoint that was away for ${LONG_MS / 1_000} s without a fault is told to be failing, and so is each that is told to have
  recovered; that it has recovered may get lost. For that one endpoint is away for long once the last fault is recovered from.
- A recovery of parked deliveries goes on while the api replicas are killed.

## What struck

From the fault until every service was ready and an event went all the way again, in seconds. A frozen connection and an alarm
last some of that time themselves, and a fault may strike while the one before is still being recovered from.

| fault | times | median | longest |
| --- | --- | --- | --- |
${kinds.join('\n')}
`
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
