import { cpus, release, totalmem, type } from 'node:os'
import { bullmqSpread } from '../figures/deliveries.ts'
import type { FigureName, Figures } from '../figures.ts'

/** The machine of a measurement. */
export const describeMachine = () => ({
  cores: cpus().length,
  processor: cpus()[0]?.model.trim() ?? 'unknown',
  memoryGib: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()}`,
  node: process.version,
})

/** A figure with its date and machine. */
interface Taken<T> {
  /** ISO 8601. */
  readonly at: string
  readonly machine: Readonly<ReturnType<typeof describeMachine>>
  readonly providers: Readonly<Record<string, string>>
  /** Of the last minute, before `make bench` started its stack. Earlier results have none. */
  readonly loadAverage?: number
  readonly figure: T
}

/** `docs/benchmarks/results.json`: the latest measurement of each figure. */
export type Results = { readonly [Name in FigureName]?: Taken<Figures[Name]> }

/**
 * The figures named in a comma-separated list; all figures if the list is empty.
 * @throws for an unknown name
 */
export function wantedFigures(named: string | undefined, all: readonly FigureName[]): readonly FigureName[] {
  const names = (named ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  const unknown = names.filter((name) => !all.some((known) => known === name))
  if (unknown.length > 0) throw new Error(`FIGURES: there is no ${unknown.join(', ')}; there are ${all.join(', ')}`)
  return names.length === 0 ? all : all.filter((name) => names.includes(name))
}

/** Processes that are ready to run at the start, for each core. */
const BUSY_LOAD = 0.5
/** The work of BullMQ is the same in each run, so its runs differ by what else the machine does. */
const BUSY_SPREAD = 0.25

/** Signs that other programs used the machine during a measurement; none on a quiet machine. */
export function busySigns(name: FigureName, results: Results): readonly string[] {
  const { loadAverage = 0, machine } = results[name] ?? {}
  const signs = loadAverage > BUSY_LOAD * (machine?.cores ?? 1) ? [`load average ${loadAverage} at the start`] : []
  if (name !== 'deliveries' || results.deliveries === undefined) return signs
  const spreads = Object.entries(results.deliveries.figure.workloads).flatMap(([workload, measured]) => {
    const spread = bullmqSpread(measured)
    return spread > BUSY_SPREAD ? [`${Math.round(spread * 100)} % (${workload})`] : []
  })
  return spreads.length === 0 ? signs : [...signs, `runs of BullMQ with axios differ by ${spreads.join(', ')}`]
}
