import { readFileSync } from 'node:fs'
import { commonFields, described, duration, optional, text } from '@switchhook/runtime'
import { CONFIGURATION_PAGE, configurationPage, SERVICES } from './configuration-page.ts'

test('docs/configuration.md is the page that `make docs` writes from the fields', () => {
  expect(readFileSync(CONFIGURATION_PAGE, 'utf8')).toBe(configurationPage(SERVICES))
})

test('lists a variable in the section of the services that read it', () => {
  const wait = described('A wait.', duration('10s'))
  const page = configurationPage({ api: { ...commonFields, WAIT: wait }, worker: { ...commonFields } })
  const [, ...sections] = page.split('\n## ')
  expect(sections.map((section) => section.split('\n')[0])).toEqual([
    'All services',
    'Several services',
    'api',
    'worker',
  ])
  expect(sections[0]).toContain('| `AMQP_URL`')
  expect(sections[2]).toContain('| `WAIT` | `10s` | A wait. |')
})

test('names the services of a variable that several read', () => {
  const name = described('A name.', optional(text()))
  const page = configurationPage({ api: { NAME: name }, fanout: { NAME: name }, worker: {} })
  expect(page).toContain('| `NAME` | api, fanout | none | A name. |')
})

test('rejects a variable without a description or with two', () => {
  expect(() => configurationPage({ api: { WAIT: duration('10s') } })).toThrow('WAIT of api has no description')
  const fields = ['A wait.', 'A pause.'].map((about) => ({ WAIT: described(about, duration('10s')) }))
  expect(() => configurationPage({ api: fields[0] ?? {}, worker: fields[1] ?? {} })).toThrow(
    'WAIT has two different descriptions',
  )
})
