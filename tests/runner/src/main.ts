import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runCommand } from '@switchhook/test-servers'
import { endBy } from './interruption.ts'
import { machineState } from './machine.ts'
import { type Plan, planOf } from './plan.ts'
import { causeOf, countsOf, type Outcome, problemsOf, slowest } from './report.ts'
import { BuildFailed, runTests } from './run-tests.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const program = join(root, 'node_modules', 'jest', 'bin', 'jest.js')
const [name = 'test', ...patterns] = process.argv.slice(2)
/** CI keeps this file, so a run of some files writes another one. */
const REPORT = join('.local', `${name}${patterns.length > 0 ? '-of-files' : ''}-report.txt`)
const TIMES = join(root, 'node_modules', '.cache', 'test-times.json')
// The tests start some hundred processes of Node, which share their compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'node')

const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function build(env: NodeJS.ProcessEnv): Promise<void> {
  const { MAKEFLAGS: _, MFLAGS: __, ...others } = process.env
  const { ok, output } = await runCommand('make', ['build'], { cwd: root, env: { ...others, ...env } })
  if (!ok) throw new BuildFailed(`make build failed:\n${output.trim()}`)
}

/** The test files of the plan, with the times that they took in the last run. */
async function expectedMs({ parts }: Plan, patterns: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const projects = new Set(parts.map(({ project }) => project))
  const select = patterns.map((pattern) => `--testPathPatterns=${pattern}`)
  const list = [program, '--listTests', ...select, '--selectProjects', ...projects]
  const { stdout } = await runCommand(process.execPath, list, { cwd: root })
  const times = knownTimes()
  const mean = [...times.values()].reduce((total, ms) => total + ms, 0) / times.size || 1
  const paths = stdout.split('\n').flatMap((path) => (path.startsWith(root) ? [path.slice(root.length + 1)] : []))
  return new Map(paths.map((path) => [path, times.get(path) ?? mean]))
}

function knownTimes(): Map<string, number> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(TIMES, 'utf8')) as Record<string, number>))
  } catch {
    return new Map()
  }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`

/** The closing lines: problems in full, times, and the machine's state if something failed. The last one is for scripts. */
async function closingLines(outcome: Outcome, buildMs: number): Promise<string> {
  const { passed, failed } = countsOf(outcome)
  const problems = problemsOf(outcome)
  const machine = problems.length === 0 ? [] : ['Machine:', ...(await machineState()).map((line) => `  ${line}`), '']
  return [
    '',
    ...problems.flatMap((problem) => [problem, '']),
    'Slowest files:',
    ...slowest(outcome.results),
    '',
    ...machine,
    `Took ${seconds(performance.now())}, ${seconds(buildMs)} of them for the build. Report: ${REPORT}`,
    `${passed} passed, ${failed} failed`,
    '',
  ].join('\n')
}

function notTested(cause: string): void {
  write(join(root, REPORT), `NOT TESTED: ${cause}\n`)
  say(`\nNOT TESTED: ${causeOf(cause)}\nReport: ${REPORT}\n0 passed, 1 failed`)
  process.exitCode = 1
}

const plan = planOf(name === 'test-long' ? name : 'test', patterns)
const end = await runTests({
  plan,
  root,
  program,
  terminal: process.stderr,
  build,
  expectedMs: () => expectedMs(plan, patterns),
})
if (end.kind === 'interrupted') {
  say(`\nInterrupted by ${end.signal}. Nothing of this run is left running.`)
  endBy(end.signal)
} else if (end.kind === 'impossible') {
  notTested(end.cause)
} else if (end.outcome.results.every(({ part, files }) => part === plan.first || files.length === 0)) {
  notTested(`No path of a test contains ${patterns.join(' or ')}.`)
} else {
  const { outcome, buildMs } = end
  const lines = await closingLines(outcome, buildMs)
  const all = slowest(outcome.results, Number.POSITIVE_INFINITY)
  write(join(root, REPORT), `${['All files:', ...all].join('\n')}\n${lines}`)
  const times = outcome.results.flatMap(({ files }) => files.map(({ path, ms }) => [path, ms] as const))
  write(TIMES, JSON.stringify(Object.fromEntries([...knownTimes(), ...times])))
  say(lines.trimEnd())
  process.exitCode = countsOf(outcome).failed > 0 ? 1 : 0
}
