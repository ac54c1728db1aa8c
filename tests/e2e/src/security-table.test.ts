import { hasTest, namedTests, readDocs } from './named-tests.ts'

const page = readDocs('security.md')
const [, table = ''] = page.split('## Threats')
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| threat') && !line.startsWith('| -'))

test.each(namedTests(table, page))('"%s" is in %s', (title, file) => {
  expect(hasTest(title, file)).toBe(true)
})

test('every threat names a test or says why there is none', () => {
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.filter((row) => namedTests(row, page).length === 0 && !row.includes('| No test: '))).toEqual([])
})
