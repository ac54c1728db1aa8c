import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@switchhook/backing'
import { describeCells } from './describe-cells.ts'
import { workloadsOf } from './inputs.ts'

const MARKS = { begin: '<!-- begin: written by make docs -->', end: '<!-- end: written by make docs -->' }
const WORKLOADS = ['one to one', 'twenty to one']

export const PAGE = join(repository, 'docs', 'scaling.md')
export const PLOT = join(repository, 'docs', 'images', 'cells.svg')

/** The page and the picture as they should be, from the measured costs of docs/benchmarks. */
export function renderPages(): { readonly page: string; readonly plot: string } {
  const results = readFileSync(join(repository, 'docs', 'benchmarks', 'results.json'), 'utf8')
  const { markdown, plot } = describeCells(workloadsOf(results, WORKLOADS))
  const page = readFileSync(PAGE, 'utf8')
  const [begin, end] = [page.indexOf(MARKS.begin), page.indexOf(MARKS.end)]
  if (begin < 0 || end < begin) throw new Error(`${PAGE} has no lines ${MARKS.begin} and ${MARKS.end}`)
  return { page: `${page.slice(0, begin + MARKS.begin.length)}\n\n${markdown}\n\n${page.slice(end)}`, plot }
}
