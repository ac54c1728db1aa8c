import { hasTest, namedTests, readDocs } from './named-tests.ts'

describe.each([
  ['pitfalls.md', 100],
  ['threats.md', 25],
])('%s', (file, most) => {
  const page = readDocs(file)
  const entries = page
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => section.split(/^### /m).slice(1))

  test.each(namedTests(page, page))('"%s" is in %s', (title, path) => {
    expect(hasTest(title, path)).toBe(true)
  })

  test('every entry names a test or says why there is none', () => {
    expect(entries.length).toBeGreaterThanOrEqual(most)
    expect(entries.filter((entry) => namedTests(entry, page).length === 0 && !entry.includes('No test: '))).toEqual([])
  })
})

describe('the table of deadlines in architecture.md', () => {
  const page = readDocs('architecture.md')
  const section = page.split('## Deadlines and outages')[1]?.split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| .+ \|$/gm)].map(([row]) => row).slice(2)

  test.each(namedTests(rows.join('\n'), page))('"%s" is in %s', (title, path) => {
    expect(hasTest(title, path)).toBe(true)
  })

  test('each row says what an outage of each part does, and names a test', () => {
    expect(rows.length).toBeGreaterThan(20)
    expect(rows.map((row) => row.split(' | ').length)).toEqual(rows.map(() => 6))
    expect(rows.filter((row) => namedTests(row, page).length === 0)).toEqual([])
  })
})
