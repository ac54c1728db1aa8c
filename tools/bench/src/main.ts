import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Bench, closing } from './bench.ts'
import { FIGURE_NAMES, type FigureName, MEASUREMENTS } from './figures.ts'
import { round } from './measure/statistics.ts'
import { fillPage, tablesOf } from './report/fill-page.ts'
import { describeMachine, type Results, wantedFigures } from './report/results.ts'
import { compareWithTargets } from './report/targets.ts'
import { withStack } from './with-stack.ts'

const say = (line: string): void => console.log(line)
const docs = fileURLToPath(new URL('../../../docs', import.meta.url))
const resultsFile = join(docs, 'benchmarks', 'results.json')
const pageFile = join(docs, 'benchmarks.md')

function readResults(): Results {
  try {
    return JSON.parse(readFileSync(resultsFile, 'utf8')) as Results
  } catch {
    return {}
  }
}

/** Called after each figure, so that a later failure loses nothing. */
function write(results: Results): void {
  mkdirSync(join(docs, 'benchmarks'), { recursive: true })
  writeFileSync(resultsFile, `${JSON.stringify(results)}\n`)
  writeFileSync(pageFile, fillPage(readFileSync(pageFile, 'utf8'), results))
}

async function measure(name: FigureName, bench: Omit<Bench, 'defer'>, loadAverage: number): Promise<void> {
  say(MEASUREMENTS[name].title)
  const figure = await closing<unknown>(bench, (whole) => MEASUREMENTS[name].measure(whole))
  if (figure === undefined) return
  const taken = {
    at: new Date().toISOString(),
    machine: describeMachine(),
    providers: bench.stack.providers,
    loadAverage,
    figure,
  }
  const results = { ...readResults(), [name]: taken }
  write(results)
  say(tablesOf(name, results).join('\n\n'))
}

async function bench(env: NodeJS.ProcessEnv): Promise<void> {
  const wanted = wantedFigures(env['FIGURES'], FIGURE_NAMES)
  const loadAverage = round(loadavg()[0] ?? 0)
  say(`load average of the last minute: ${loadAverage}`)
  for (const setting of new Set(wanted.map((name) => MEASUREMENTS[name].setting))) {
    const together = wanted.filter((name) => MEASUREMENTS[name].setting === setting)
    await withStack(env, setting, async (stack) => {
      for (const name of together) {
        // Report the error, keep measuring, exit non-zero at the end.
        await measure(name, stack, loadAverage).catch(fail)
      }
    })
  }
  for (const { figure, target, measured, verdict } of compareWithTargets(readResults())) {
    say(`${verdict.padEnd(12)} ${figure}: ${measured} (target ${target})`)
  }
  say('written: docs/benchmarks.md, docs/benchmarks/results.json')
}

function fail(error: unknown): void {
  console.error(error)
  process.exitCode = 1
}

bench(process.env).catch(fail)
