import { namedTests, readDocs } from './named-tests.ts'

const page = readDocs('specification-tests.md')

test.each(namedTests(page, page))('"%s" is in %s', (title, file) => {
  expect(readDocs(file)).toContain(title)
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
  expect(sentences.filter((sentence) => namedTests(sentence, page).length === 0)).toEqual([])
})
