import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const docs = join(import.meta.dirname, '../../../docs')
const page = readFileSync(join(docs, 'specification-tests.md'), 'utf8')
const references = [...page.matchAll(/\[([^\]]+)\]\((\.\.\/[^)]+\.test\.ts)\)/g)].map(([, title = '', file = '']) => [
  title,
  file,
])

test.each(references)('"%s" is in %s', (title, file) => {
  expect(readFileSync(join(docs, file), 'utf8')).toContain(title)
})

test('each promised section is there, and every sentence names a test', () => {
  expect([...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual([
    'Webhook subscriptions',
    'Delivery envelope',
    'Authentication',
    'Events',
    'Limits',
    'Voice calls',
    'Voice agents',
    'Errors',
  ])
  const sentences = page.split(/^- /m).slice(1)
  expect(sentences.length).toBeGreaterThan(50)
  expect(sentences.filter((sentence) => !sentence.includes('.test.ts)'))).toEqual([])
})
