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
