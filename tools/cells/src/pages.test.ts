import { readFileSync } from 'node:fs'
import { PAGE, PLOT, renderPages } from './pages.ts'

test('docs/scaling.md and its picture follow from the measured costs; `make docs` writes them', () => {
  const { page, plot } = renderPages()
  expect(readFileSync(PAGE, 'utf8')).toBe(page)
  expect(readFileSync(PLOT, 'utf8')).toBe(plot)
})
