import { brokerLogsOf, causeOf, countsOf, problemsOf, slowest } from './report.ts'
import type { RunEnd } from './run-tests.ts'

export interface Circumstances {
  /** The run was restricted to files whose path contains one of them. */
  readonly patterns: readonly string[]
  /** The path of the report. */
  readonly report: string
  readonly tookMs: number
  /** Asked only if something failed. */
  readonly machineState: () => Promise<readonly string[]>
}

export interface Closing {
  readonly said: string
  /** The content of the report; an interrupted run has none. */
  readonly report?: string
  readonly hasFailed: boolean
}

/** The cause is often in a program's own words, which do not say what to do. */
const ADVICE = 'What the tests need: CONTRIBUTING.md, "Set up" and "Run one test".'

/** How a run ends: the last lines on the terminal and the report. */
export async function closingOf(end: RunEnd, circumstances: Circumstances): Promise<Closing> {
  const left = end.left.map((what) => `LEFT BEHIND  ${what}`)
  if (end.kind === 'interrupted') {
    const rest = left.length === 0 ? 'Nothing of this run is left running.' : 'Of this run, there still is:'
    return { said: ['', `Interrupted by ${end.signal}. ${rest}`, ...left].join('\n'), hasFailed: true }
  }
  if (end.kind === 'impossible') {
    const advice = end.output === undefined ? [ADVICE] : []
    return notTested(end.cause, circumstances, [...left, end.output ?? ''], advice)
  }
  const { outcome, buildMs } = end
  // The first part has the checks that each run begins with.
  const isEmpty = outcome.results.slice(1).every(({ files, problem }) => files.length === 0 && problem === undefined)
  if (isEmpty)
    return notTested(`No path of a test contains ${circumstances.patterns.join(' or ')}.`, circumstances, left)

  const { passed, failed } = countsOf(outcome)
  const problems = [...problemsOf(outcome), ...left]
  const machine = problems.length === 0 ? [] : ['Machine:', ...(await circumstances.machineState()).map(indented), '']
  const logs = brokerLogsOf(outcome)
  const said = [
    '',
    ...problems.flatMap((problem) => [problem, '']),
    'Slowest files:',
    ...slowest(outcome.results),
    '',
    ...machine,
    `Took ${seconds(circumstances.tookMs)}, ${seconds(buildMs)} of them for the build. Report: ${circumstances.report}` +
      (logs.length > 0 ? " (with RabbitMQ's log of the failed files)" : ''),
    // The last line is for scripts.
    `${passed} passed, ${failed} failed`,
  ].join('\n')
  const all = ['All files:', ...slowest(outcome.results, Number.POSITIVE_INFINITY)].join('\n')
  return { said, report: [all, ...logs, said, ''].join('\n'), hasFailed: failed > 0 || outcome.notRun.length > 0 }
}

/** One line tells the cause. `details` are shown in full before it. */
function notTested(
  cause: string,
  { report }: Circumstances,
  details: readonly string[],
  advice: readonly string[] = [],
): Closing {
  const text = details.filter(Boolean).join('\n')
  return {
    said: [
      `${text && `\n${text}\n`}\nNOT TESTED: ${causeOf(cause)}`,
      ...advice,
      `Report: ${report}`,
      '0 passed, 1 failed',
    ].join('\n'),
    report: `NOT TESTED: ${cause}\n${text && `${text}\n`}`,
    hasFailed: true,
  }
}

const indented = (line: string): string => `  ${line}`
const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`
