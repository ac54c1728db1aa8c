import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const docs = join(import.meta.dirname, '../../../docs')
const [, ...sections] = readFileSync(join(docs, 'pitfalls.md'), 'utf8').split(/^## /m)
const rowsOf = (section: string): string[] => section.split('\n').filter((line) => /^\| \d/.test(line))
const rows = sections.flatMap(rowsOf)
const references = rows.flatMap((row) =>
  [...row.matchAll(/\[([^\]]+)\]\((\.\.\/[^)]+\.test\.ts)\)/g)].map(([, title = '', file = '']) => [title, file]),
)

test.each(references)('"%s" is in %s', (title, file) => {
  const source = readFileSync(join(docs, file), 'utf8')
  expect(["'", '"', '`'].some((quote) => source.includes(quote + title + quote))).toBe(true)
})

test('every row of the 30 pitfalls, 30 complaints, 4 delivery-log rows and 26 review rows names a test or says why there is none', () => {
  const thirty = Array.from({ length: 30 }, (_, index) => String(index + 1))
  expect(sections.map((section) => rowsOf(section).map((row) => row.split('|')[1]?.trim()))).toEqual([
    thirty,
    thirty,
    thirty.slice(0, 4),
    thirty.slice(0, 26),
  ])
  expect(rows.filter((row) => !row.includes('.test.ts)') && !row.includes('| No test: '))).toEqual([])
})
