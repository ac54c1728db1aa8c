import { hasTest, namedTests, readDocs } from './named-tests.ts'

const page = readDocs('pitfalls.md')
const [, ...sections] = page.split(/^## /m)
const entriesOf = (section: string): string[] => section.split(/^### /m).slice(1)
const entries = sections.flatMap(entriesOf)

test.each(namedTests(page, page))('"%s" is in %s', (title, file) => {
  expect(hasTest(title, file)).toBe(true)
})

test.each(sections.map((section) => [section.split('\n')[0], section]))(
  '%s: the entries are numbered',
  (_, section) => {
    const numbers = entriesOf(section).map((entry) => Number.parseInt(entry, 10))
    expect(numbers).toEqual(numbers.map((_number, index) => index + 1))
  },
)

test('every entry names a test or says why there is none', () => {
  expect(entries.length).toBeGreaterThanOrEqual(100)
  expect(entries.filter((entry) => namedTests(entry, page).length === 0 && !entry.includes('No test: '))).toEqual([])
})
