import { median, round } from '../measure/statistics.ts'
import type { Results } from './results.ts'
import { compareWithTargets } from './targets.ts'

/**
 * Compares the measured values that have targets, of two versions that were measured in turns: the medians of the turns,
 * and by how many percent `after` is worse; negative if it is better.
 */
export function compareResults(before: readonly Results[], after: readonly Results[]) {
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
  rowsOf(results).flatMap(({ figure, sign, values = {} }) =>
    Object.entries(values).flatMap(([on, own]) =>
      own.flatMap((value, at) => {
        const name = `${figure} (${[on, at + 1].filter(String).join(', ')})`
        return Number.isNaN(value) ? [] : [{ figure: name, sign, value }]
      }),
    ),
  )

/** The figures that this version measures in another form, so that they cannot be compared. */
export const otherFigures = (results: Results): string[] =>
  Object.entries(results).flatMap(([name, figure]) => (rowsOfFigure(name, figure) === undefined ? [name] : []))

const rowsOf = (results: Results) =>
  Object.entries(results).flatMap(([name, figure]) => rowsOfFigure(name, figure) ?? [])

function rowsOfFigure(name: string, figure: Results[keyof Results]) {
  try {
    return compareWithTargets({ [name]: figure })
  } catch {
    return undefined
  }
}
