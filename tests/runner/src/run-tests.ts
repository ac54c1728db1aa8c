import { openTestRun, type TestRun } from '@switchhook/test-servers'
import { brokerLog } from './broker-log.ts'
import { BuildFailed } from './build.ts'
import { interruption } from './interruption.ts'
import type { Part, Plan } from './plan.ts'
import { createProgress, type Progress, type Terminal } from './progress.ts'
import { type Outcome, partsToRepeat } from './report.ts'
import { type PartResult, runPart, ServersUnavailable } from './run-part.ts'

export interface RunSettings {
  readonly plan: Plan
  readonly root: string
  /** Jest, or what takes its place in a test. */
  readonly program: string
  readonly terminal: Terminal
  /** How long each test file is expected to take, by path. The environment makes its processes part of the run. */
  readonly expectedMs: (env: NodeJS.ProcessEnv) => Promise<ReadonlyMap<string, number>>
  /** Builds what the tests need, or rejects with `BuildFailed`. */
  readonly build: (env: NodeJS.ProcessEnv) => Promise<void>
}

type Ended =
  | { readonly kind: 'complete'; readonly outcome: Outcome; readonly buildMs: number }
  /** Most tests did not run: something that they need cannot be built or started. */
  | { readonly kind: 'impossible'; readonly cause: string; readonly output?: string }
  | { readonly kind: 'interrupted'; readonly signal: NodeJS.Signals }

/** `left` names what still runs or lies in the temporary folders after the run has ended all it found. */
export type RunEnd = Ended & { readonly left: readonly string[] }

/**
 * Runs all parts of the plan, and ends all that the run started. A watchdog does that soon after this process is killed,
 * too.
 */
export async function runTests(settings: RunSettings): Promise<RunEnd> {
  let run: TestRun
  try {
    run = openTestRun()
  } catch (error) {
    const cause = `the temporary folder (TMPDIR) cannot be used: ${String(error)}`
    return { kind: 'impossible', cause, left: [] }
  }
  const progress = createProgress(settings.terminal)
  const interrupted = interruption()
  const ending = new AbortController()
  const work = runAll(settings, run, progress, ending.signal).catch((error: unknown): Ended => {
    if (error instanceof BuildFailed) return { kind: 'impossible', cause: error.message, output: error.output }
    if (error instanceof ServersUnavailable) return { kind: 'impossible', cause: error.message }
    throw error
  })
  const ended = Promise.race([work, interrupted.then((signal): Ended => ({ kind: 'interrupted', signal }))])
  await Promise.allSettled([ended])
  // What still runs fails from now on, because its processes are ended. Nothing more begins.
  progress.mute()
  ending.abort()
  const { processes, files } = await run.close()
  return { ...(await ended), left: [...processes, ...files] }
}

async function runAll(settings: RunSettings, run: TestRun, progress: Progress, ending: AbortSignal): Promise<Ended> {
  const { plan, root, program, build, expectedMs } = settings
  const leftovers: string[] = []
  const runOne = async (part: Part): Promise<PartResult> => {
    ending.throwIfAborted()
    // A process that ended early left what it had started. Otherwise, each test ends what it starts.
    const clear = () => run.clear(part.name)
    const env = run.environment(part.name)
    const logSince = (sinceMs: number): string => brokerLog(run.foldersOf(part.name), sinceMs)
    const { left, ...result } = await runPart(part, {
      program,
      root,
      env,
      observer: progress,
      clear,
      brokerLog: logSince,
    })
    ending.throwIfAborted()
    if (result.problem !== undefined) progress.say(`FAIL ${result.problem}`)
    if (result.problem === undefined)
      leftovers.push(...[...left.processes, ...left.files].map((what) => `${part.name}: ${what}`))
    return result
  }

  const beganMs = performance.now()
  progress.say('build, and a check of everything that the tests start')
  const env = run.environment('build')
  // The first of the three that fails ends the run.
  const [first, buildMs, expected] = await Promise.all([
    runOne(plan.first).then(withoutFailure),
    build(env).then(() => performance.now() - beganMs),
    expectedMs(env),
  ])
  progress.expect(expected)

  const waiting = [...plan.parts]
  const lane = async (): Promise<PartResult[]> => {
    const results: PartResult[] = []
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results.push(await runOne(next))
    return results
  }
  const results = [first, ...(await Promise.all(Array.from({ length: plan.lanes }, lane))).flat()]
  const ran = new Set(results.flatMap(({ files }) => files.map(({ path }) => path)))
  const notRun = [...expected.keys()].filter((path) => !ran.has(path))
  return { kind: 'complete', outcome: { results, again: await repeat(results, runOne), notRun, leftovers }, buildMs }
}

/** @throws ServersUnavailable with the first failure */
function withoutFailure(result: PartResult): PartResult {
  const cause = result.problem ?? result.files.find(({ failed }) => failed > 0)?.failure
  if (cause !== undefined) throw new ServersUnavailable(cause)
  return result
}

/** Runs the failed files once more, alone. */
async function repeat(
  results: readonly PartResult[],
  runOne: (part: Part) => Promise<PartResult>,
): Promise<readonly PartResult[] | undefined> {
  const parts = partsToRepeat(results)
  if (parts.length === 0) return undefined
  const again: PartResult[] = []
  for (const { part, files } of parts) {
    const paths = files.filter(({ failed }) => failed > 0).map(({ path }) => path)
    const args = ['--runTestsByPath', ...paths]
    again.push(await runOne({ name: `${part.name}-again`, project: part.project, args }))
  }
  return again
}
