import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const docs = join(import.meta.dirname, '../../../docs')
const [, table = ''] = readFileSync(join(docs, 'security.md'), 'utf8').split('## Threats')
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| threat') && !line.startsWith('| -'))
const references = rows.flatMap((row) =>
  [...row.matchAll(/\[([^\]]+)\]\((\.\.\/[^)]+\.test\.ts)\)/g)].map(([, title = '', file = '']) => [title, file]),
)

test.each(references)('"%s" is in %s', (title, file) => {
  const source = readFileSync(join(docs, file), 'utf8')
  expect(["'", '"', '`'].some((quote) => source.includes(quote + title + quote))).toBe(true)
})

test('every threat names a test or says why there is none', () => {
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.filter((row) => !row.includes('.test.ts)') && !row.includes('| No test: '))).toEqual([])
})
