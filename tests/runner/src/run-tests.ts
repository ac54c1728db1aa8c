import { openTestRun, type TestRun } from '@switchhook/test-servers'
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
  /** How long each test file is expected to take, by path. */
  readonly expectedMs: () => Promise<ReadonlyMap<string, number>>
  /** Builds what the tests need. The environment makes its processes part of the run. */
  readonly build: (env: NodeJS.ProcessEnv) => Promise<void>
}

/** What the tests need cannot be built. */
export class BuildFailed extends Error {
  override readonly name = 'BuildFailed'
}

export type RunEnd =
  | { readonly kind: 'complete'; readonly outcome: Outcome; readonly buildMs: number }
  /** Most tests did not run: something that they need cannot be built or started. */
  | { readonly kind: 'impossible'; readonly cause: string }
  | { readonly kind: 'interrupted'; readonly signal: NodeJS.Signals }

/**
 * Runs all parts of the plan. All that the run started has ended when it resolves, and soon after this process is killed,
 * too.
 */
export async function runTests(settings: RunSettings): Promise<RunEnd> {
  const run = openTestRun()
  const progress = createProgress(settings.terminal)
  const interrupted = interruption()
  const ending = new AbortController()
  const work = runAll(settings, run, progress, ending.signal).catch((error: unknown): RunEnd => {
    if (!(error instanceof ServersUnavailable || error instanceof BuildFailed)) throw error
    return { kind: 'impossible', cause: error.message }
  })
  try {
    return await Promise.race([work, interrupted.then((signal): RunEnd => ({ kind: 'interrupted', signal }))])
  } finally {
    // What still runs fails from now on, because its processes are ended. Nothing more begins.
    progress.mute()
    ending.abort()
    work.catch(() => {})
    await run.close()
  }
}

async function runAll(settings: RunSettings, run: TestRun, progress: Progress, ending: AbortSignal): Promise<RunEnd> {
  const { plan, root, program, build, expectedMs } = settings
  const leftovers: string[] = []
  const runOne = async (part: Part): Promise<PartResult> => {
    ending.throwIfAborted()
    // A process that ended early left what it had started. Otherwise, each test ends what it starts.
    const clear = () => run.clear(part.name)
    const env = run.environment(part.name)
    const { left, ...result } = await runPart(part, { program, root, env, observer: progress, clear })
    ending.throwIfAborted()
    if (result.problem !== undefined) progress.say(`FAIL ${result.problem}`)
    if (result.problem === undefined)
      leftovers.push(...[...left.processes, ...left.files].map((what) => `${part.name}: ${what}`))
    return result
  }

  const beganMs = performance.now()
  progress.say('build, and a check of everything that the tests start')
  const building = build(run.environment('build')).then(() => performance.now() - beganMs)
  const [first, buildMs, expected] = await Promise.all([runOne(plan.first), building, expectedMs()])
  const cause = first.problem ?? first.files.find(({ failed }) => failed > 0)?.failure
  if (cause !== undefined) throw new ServersUnavailable(cause)
  progress.expect(expected)

  const waiting = [...plan.parts]
  const lane = async (): Promise<PartResult[]> => {
    const results: PartResult[] = []
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results.push(await runOne(next))
    return results
  }
  const results = [first, ...(await Promise.all(Array.from({ length: plan.lanes }, lane))).flat()]
  return { kind: 'complete', outcome: { results, again: await repeat(results, runOne), leftovers }, buildMs }
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
