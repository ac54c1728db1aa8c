import type { FigureName } from '../figures.ts'
import { busySigns, type Results } from './results.ts'
import { TABLES, table } from './tables.ts'
import { compareWithTargets } from './targets.ts'

/**
 * Replaces the tables of `docs/benchmarks.md`: of each figure, of the targets and of the machines. Each block
 * stands between `<!-- name -->` and `<!-- end -->`; everything else is written by hand.
 * @throws if the page has no block for a figure
 */
export function fillPage(page: string, results: Results): string {
  const figures = (Object.keys(TABLES) as FigureName[]).map((name) => [name, tablesOf(name, results)] as const)
  const blocks = [...figures, ['targets', [targets(results)]] as const, ['machines', [machines(results)]] as const]
  return blocks.reduce((filled, [name, tables]) => {
    const block = new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end -->)`)
    if (!block.test(filled)) throw new Error(`docs/benchmarks.md has no block <!-- ${name} -->`)
    return filled.replace(block, (_all, begin: string, end: string) => `${begin}\n${tables.join('\n\n')}\n\n${end}`)
  }, page)
}

/** The tables of a figure, below the signs of a busy machine if there are any. */
export function tablesOf(name: FigureName, results: Results): readonly string[] {
  const taken = results[name]
  if (taken === undefined) return ['Not measured yet.']
  const signs = busySigns(name, results)
  // The key ties a figure to its tables, which the compiler cannot see for a union of names.
  const render = TABLES[name] as (figure: unknown) => readonly string[]
  return [
    ...(signs.length === 0 ? [] : [`**Measured on a busy machine**: ${signs.join('; ')}.`]),
    ...render(taken.figure),
  ]
}

const targets = (results: Results): string =>
  table(
    ['figure', 'target', 'measured', ''],
    compareWithTargets(results).map(({ figure, target, measured, verdict }) => [figure, target, measured, verdict]),
  )

/** A row for each machine, with the figures that were measured on it. */
const machines = (results: Results): string => {
  const figures = Object.entries(results).map(([name, { at, machine, loadAverage, providers }]) => {
    const { cores, processor, memoryGib, system, node } = machine
    const load = loadAverage === undefined ? '' : `, load ${loadAverage}`
    const stores = `RabbitMQ ${providers['rabbitmq']}, Redis ${providers['redis']}`
    return {
      machine: `${cores} cores (${processor}), ${memoryGib} GiB, ${system}, Node ${node}; ${stores}`,
      figure: `${name} (${at.slice(0, 16).replace('T', ' ')}${load})`,
    }
  })
  const byMachine = Map.groupBy(figures, ({ machine }) => machine)
  return table(
    ['machine', 'figures, with UTC and the load average at the start'],
    [...byMachine].map(([machine, taken]) => [machine, taken.map(({ figure }) => figure).join(', ')]),
  )
}
