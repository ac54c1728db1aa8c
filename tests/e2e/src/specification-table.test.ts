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

test('each promised section has a table, and every row names a test', () => {
  expect([...table.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
    'Webhook subscriptions',
    'Delivery envelope',
    'Authentication',
    'Events',
    'Limits',
    'Voice calls',
    'Voice agents',
    'Errors',
  ])
  const rows = table.split('\n').filter((line) => /^\| (?!the specification|-)/.test(line))
  expect(rows.filter((row) => !row.includes('.test.ts)')).map((row) => row.split('|')[1]?.trim())).toEqual([])
})
