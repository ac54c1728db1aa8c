import { didYouMean } from './validator.ts'

const KNOWN = ['url', 'eventTypes', 'description', 'enabled', 'to']

test.each<[string, string | undefined]>([
  ['eventType', 'eventTypes'],
  ['event_types', 'eventTypes'],
  ['EVENT-TYPES', 'eventTypes'],
  ['evenTypes', 'eventTypes'],
  ['desciption', 'description'],
  ['enabeld', 'enabled'],
  ['enable', 'enabled'],
  ['uri', 'url'],
  ['active', undefined],
  ['secret', undefined],
  ['a', undefined],
  ['', undefined],
  ['x'.repeat(60_000), undefined],
  ['__proto__', undefined],
])('%j is a misspelt %s', (name, expected) => {
  expect(didYouMean(name, KNOWN)).toBe(expected === undefined ? '' : `; did you mean "${expected}"?`)
})
