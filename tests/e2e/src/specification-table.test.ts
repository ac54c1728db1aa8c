import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const docs = join(import.meta.dirname, '../../../docs')
const table = readFileSync(join(docs, 'specification-tests.md'), 'utf8')
const references = [...table.matchAll(/\[([^\]]+)\]\((\.\.\/[^)]+\.test\.ts)\)/g)].map(([, title = '', file = '']) => [
  title,
  file,
])

test.each(references)('"%s" is in %s', (title, file) => {
  expect(readFileSync(join(docs, file), 'utf8')).toContain(title)
})

test('every section of the specification that this covers has rows', () => {
  expect(references.length).toBeGreaterThan(50)
})
