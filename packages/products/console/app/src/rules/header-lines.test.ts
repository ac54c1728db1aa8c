import { headerLines, headersIn, KEPT } from './header-lines.ts'

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
