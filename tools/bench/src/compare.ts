import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildVersion, commitOf } from '@switchhook/local'
import { integer, loadConfig } from '@switchhook/runtime'
import { joinTestRun, leaveTestRun } from '@switchhook/test-servers'
import { FIGURE_NAMES } from './figures.ts'
import { compareResults, otherFigures } from './report/compare-results.ts'
import { type Results, wantedFigures } from './report/results.ts'
import { table } from './report/tables.ts'

/** Measures figures of an earlier commit (`FROM`) and of this one in turns, each with its own benchmark, and compares them. */
async function compare(env: NodeJS.ProcessEnv): Promise<void> {
  const { TURNS: turns } = loadConfig({ TURNS: integer({ min: 1, max: 20 }, 3) }, env)
  const figures = wantedFigures(env['FIGURES'] || 'deliveries,latency', FIGURE_NAMES)
  const versions = await Promise.all([env['FROM'] ?? 'HEAD~1', 'HEAD'].map((ref) => buildVersion(commitOf(ref))))
  const [before, after]: [Results[], Results[]] = [[], []]
  for (let turn = 0; turn < turns; turn++) {
    const sides = versions.map((folder, i) => [folder, i === 0 ? before : after] as const)
    for (const [folder, results] of turn % 2 === 0 ? sides : sides.toReversed())
      results.push(measure(folder, figures, env))
    const rows = compareResults(before, after).map((row) => [row.figure, row.before, row.after, row.worse])
    console.log(table(['figure', 'before', 'after', 'worse, %'], rows))
    const others = new Set([...before, ...after].flatMap(otherFigures))
    if (others.size > 0)
      console.log(`not compared, because a version measures it differently: ${[...others].join(', ')}`)
  }
}

/** The benchmark of a version writes its results into the folder of the version. */
function measure(folder: string, figures: readonly string[], env: NodeJS.ProcessEnv): Results {
  const home = join(folder, '.local')
  const { status } = spawnSync(process.execPath, [join(folder, 'tools', 'bench', 'dist', 'main.js')], {
    cwd: folder,
    env: { ...env, FIGURES: figures.join(','), SWITCHHOOK_HOME: home },
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`the benchmark in ${folder} ended with code ${status}`)
  const all = JSON.parse(readFileSync(join(folder, 'docs', 'benchmarks', 'results.json'), 'utf8')) as object
  return Object.fromEntries(Object.entries(all).filter(([name]) => figures.includes(name)))
}

joinTestRun()
await compare(process.env)
await leaveTestRun()
