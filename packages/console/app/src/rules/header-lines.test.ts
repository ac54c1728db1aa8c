import { headerLines, headersIn, KEPT } from './header-lines.ts'

const before = { authorization: KEPT, 'x-key': KEPT }

test.each<[string, object | undefined, object | null]>([
  ['', undefined, null],
  ['  \n', before, null],
  ['Authorization: Bearer a:b', undefined, { authorization: 'Bearer a:b' }],
  [headerLines(before), before, { authorization: KEPT, 'x-key': KEPT }],
  [`authorization: ${KEPT}`, before, { authorization: KEPT, 'x-key': null }],
  [`X-Key: new\nauthorization: ${KEPT}`, before, { authorization: KEPT, 'x-key': 'new' }],
  // The API says what is wrong with it.
  ['no colon', undefined, { 'no colon': '' }],
])('%j over %j is %j', (text, stored, expected) => expect(headersIn(text, stored)).toEqual(expected))

test('values that are kept do not follow an endpoint to another host by themselves', () => {
  expect(headersIn(`X-Key: new\nauthorization: ${KEPT}`, before, true)).toEqual({ 'x-key': 'new' })
})

test('an endpoint without headers has no lines', () => {
  expect(headerLines(null)).toBe('')
})
