import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runCommand } from '@switchhook/test-servers'
import { build } from './build.ts'
import { closingOf } from './closing.ts'
import { endBy } from './interruption.ts'
import { machineState } from './machine.ts'
import { type Plan, planOf, selectionOf } from './plan.ts'
import { runTests } from './run-tests.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const program = join(root, 'node_modules', 'jest', 'bin', 'jest.js')
const [name = 'test', ...patterns] = process.argv.slice(2)
/** CI keeps this file, so a run of some files writes another one. */
const REPORT = join('.local', `${name}${patterns.length > 0 ? '-of-files' : ''}-report.txt`)
const TIMES = join(root, 'node_modules', '.cache', 'test-times.json')
// The tests start some hundred processes of Node, which share their compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'node')

/** The test files of the plan, with the times that they took in the last run. */
async function expectedMs(
  { parts }: Plan,
  patterns: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ReadonlyMap<string, number>> {
  const projects = new Set(parts.map(({ project }) => project))
  const list = [program, '--listTests', ...selectionOf(patterns), '--selectProjects', ...projects]
  const { stdout } = await runCommand(process.execPath, list, { cwd: root, env: { ...process.env, ...env } })
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

/** Returns what could not be written, in words. */
function write(file: string, text: string): readonly string[] {
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return []
  } catch (error) {
    return [`NOT WRITTEN  ${file}: ${String(error)}`]
  }
}

const plan = planOf(name === 'test-long' ? name : 'test', patterns)
const end = await runTests({
  plan,
  root,
  program,
  terminal: process.stderr,
  build: (env) => build(['make', 'build'], root, env),
  expectedMs: (env) => expectedMs(plan, patterns, env),
})
const { said, report, hasFailed } = await closingOf(end, {
  patterns,
  report: REPORT,
  tookMs: performance.now(),
  machineState,
})
const unwritten = report === undefined ? [] : write(join(root, REPORT), report)
process.stderr.write(`${[...unwritten, said].join('\n')}\n`)
process.exitCode = hasFailed ? 1 : 0
if (end.kind === 'interrupted') endBy(end.signal)
if (end.kind === 'complete') {
  const times = end.outcome.results.flatMap(({ files }) => files.map(({ path, ms }) => [path, ms] as const))
  // Only the hint how long the next run takes is lost without it.
  write(TIMES, JSON.stringify(Object.fromEntries([...knownTimes(), ...times])))
}
