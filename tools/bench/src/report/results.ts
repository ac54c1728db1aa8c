import type { FigureName, Figures } from '../figures.ts'
import type { Machine } from '../measure/machine.ts'

/** A figure with its date and machine. */
interface Taken<T> {
  /** ISO 8601. */
  readonly at: string
  readonly machine: Machine
  readonly providers: Readonly<Record<string, string>>
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
