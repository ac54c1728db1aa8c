import { type Problem, SwitchhookError } from '@switchhook/client'
import {
  changedFields,
  faultsIn,
  filterText,
  HeadersFault,
  headerLines,
  headersIn,
  KEPT,
  previewSentence,
  readFilter,
} from './form.ts'

const refusal = (code: Problem['code'], detail: string, errors?: Problem['errors']) =>
  new SwitchhookError({ code, detail, ...(errors && { errors }) } as Problem)

test.each<[string, unknown, object]>([
  [
    'each field with its faults',
    refusal('invalid-request', 'The body is not valid.', [
      { pointer: '/url', detail: 'is required' },
      { pointer: '/headers/host', detail: 'cannot be set' },
      { pointer: '/headers/a~1b~0c', detail: 'is not a name; did you mean "a"?' },
    ]),
    { url: ['Is required.'], headers: ['host cannot be set.', 'a/b~c is not a name; did you mean "a"?'] },
  ],
  [
    'a refusal that has no pointer',
    refusal('external-id-taken', 'Subscription 1 has this externalId.'),
    { externalId: ['Subscription 1 has this externalId.'] },
  ],
  ['a fault that the console finds', new HeadersFault('x has two lines.'), { headers: ['x has two lines.'] }],
  ['an error that is not about fields', refusal('rate-limited', 'Too many requests.'), {}],
  ['an API that is away', new TypeError('fetch failed'), {}],
])('%s', (_name, error, expected) => expect(Object.fromEntries(faultsIn(error))).toEqual(expected))

const before = { authorization: KEPT, 'x-key': KEPT }

test.each<[string, object | undefined, object | null]>([
  ['', undefined, null],
  ['  \n', before, { authorization: null, 'x-key': null }],
  ['Authorization: Bearer a:b', undefined, { authorization: 'Bearer a:b' }],
  [headerLines(before), before, { authorization: KEPT, 'x-key': KEPT }],
  [`authorization: ${KEPT}`, before, { authorization: KEPT, 'x-key': null }],
  [`X-Key: new\nauthorization: ${KEPT}`, before, { authorization: KEPT, 'x-key': 'new' }],
  // The API says what is wrong with it.
  ['x-empty:', undefined, { 'x-empty': '' }],
])('%j over %j is %j', (text, stored, expected) => expect(headersIn(text, stored)).toEqual(expected))

test.each<[string, boolean, RegExp]>([
  ['X-Key: a\nBearer 3fQ9', false, /"Bearer 3fQ9" has no colon/],
  ['X-Key: a\nx-key: b', false, /x-key has two lines/],
  // Another host gets a stored value only if a person enters it again.
  [`X-Key: new\nauthorization: ${KEPT}`, true, /enter the value of authorization again/],
])('%j is refused; to another host: %j', (text, isMoving, message) =>
  expect(() => headersIn(text, before, isMoving)).toThrow(message),
)

test('an endpoint without headers has no lines', () => {
  expect(headerLines(null)).toBe('')
})

const stored = {
  id: 'not in the form',
  description: 'CRM',
  externalId: null,
  headers: { authorization: '***' },
  eventTypes: ['call.status'],
  filter: { 'call.status': { duration: [{ numeric: ['>', 0, '<=', 60] }] } },
}
const { id: _, ...entered } = stored

test('an edit that changes nothing sends nothing', () => {
  expect(changedFields(structuredClone(entered), stored)).toEqual({})
  const reordered = { ...stored, description: '', eventTypes: ['call.status', 'agent.status'] }
  expect(changedFields({ description: null, eventTypes: ['agent.status', 'call.status'] }, reordered)).toEqual({})
})

test.each<[string, object]>([
  ['a text', { description: 'CRM in Köln' }],
  ['a text that is removed', { description: null }],
  ['a value where none was', { externalId: 'crm' }],
  ['a header', { headers: { authorization: 'Bearer 3fQ9' } }],
  ['a list', { eventTypes: ['agent.status', 'call.status'] }],
  ['the order of a comparison', { filter: { 'call.status': { duration: [{ numeric: ['>', 60, '<=', 0] }] } } }],
])('it sends what differs, and only that: %s', (_what, change) => {
  expect(changedFields({ ...entered, ...change }, stored)).toEqual(change)
})

test.each(['', '  \n'])('an empty text, %j, is no filter', (text) => {
  expect(readFilter(text)).toEqual({ filter: null })
})

test('a filter is read as it was written', () => {
  const filter = { 'call.status': { state: [3, 7] } }
  expect(readFilter(filterText(filter))).toEqual({ filter })
  expect(filterText(null)).toBe('')
})

test('a text that is not JSON has a fault', () => {
  expect(readFilter('{state: 3}')).toEqual({ fault: expect.stringMatching(/^This is not JSON: ./) as unknown })
})

const preview = { since: null, examples: [], warnings: [] }

test.each([
  [0, 0, 'The journal has no event of these types yet.'],
  [1, 0, '0 of the latest 1 event would be delivered.'],
  [412, 96, '96 of the latest 412 events would be delivered.'],
])('of %i events, %i pass', (looked, matched, sentence) => {
  expect(previewSentence({ ...preview, looked, matched })).toBe(sentence)
})
