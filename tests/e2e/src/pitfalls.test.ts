import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const docs = join(import.meta.dirname, '../../../docs')
const [, ...sections] = readFileSync(join(docs, 'pitfalls.md'), 'utf8').split(/^## /m)
const entriesOf = (section: string): string[] => section.split(/^### /m).slice(1)
const entries = sections.flatMap(entriesOf)
const references = entries.flatMap((entry) =>
  [...entry.matchAll(/\[([^\]]+)\]\((\.\.\/[^)]+\.test\.ts)\)/g)].map(([, title = '', file = '']) => [title, file]),
)

test.each(references)('"%s" is in %s', (title, file) => {
  const source = readFileSync(join(docs, file), 'utf8')
  expect(["'", '"', '`'].some((quote) => source.includes(quote + title + quote))).toBe(true)
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
  expect(entries.filter((entry) => !entry.includes('.test.ts)') && !entry.includes('No test: '))).toEqual([])
})
