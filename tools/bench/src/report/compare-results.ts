import { median, round } from '../measure/statistics.ts'
import type { Results } from './results.ts'
import { compareWithTargets } from './targets.ts'

interface ComparedRow {
  readonly figure: string
  /** Medians of the turns. */
  readonly before: number
  readonly after: number
  /** By how many percent `after` is worse; negative if it is better. */
  readonly worse: number
}

/** Compares the measured values that have targets, of two versions that were measured in turns. */
export function compareResults(before: readonly Results[], after: readonly Results[]): readonly ComparedRow[] {
  const [old, present] = [before, after].map((turns) => Map.groupBy(turns.flatMap(valuesOf), ({ figure }) => figure))
  return [...(old ?? [])].flatMap(([figure, values]) => {
    const others = present?.get(figure) ?? []
    if (others.length === 0) return []
    const [was, is] = [values, others].map((each) => median(each.map(({ value }) => value)))
    if (was === undefined || is === undefined) return []
    const worse = values[0]?.sign === '≤' ? is / was - 1 : was / is - 1
    return [{ figure, before: was, after: is, worse: round(100 * worse) }]
  })
}

const valuesOf = (results: Results) =>
  compareWithTargets(results).flatMap(({ figure, sign, values = {} }) =>
    Object.entries(values).flatMap(([on, own]) =>
      own.map((value, at) => ({ figure: `${figure} (${[on, at + 1].filter(String).join(', ')})`, sign, value })),
    ),
  )
