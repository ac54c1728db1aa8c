import { entityTagOf, ifMatchOf, requireMatch } from './entity-tag.ts'

const TAG = entityTagOf({ url: 'https://client.example' })

const isMet = (header: string | undefined): boolean => {
  try {
    requireMatch(ifMatchOf(header), TAG)
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'precondition-failed' })
    return false
  }
}

test('a tag is quoted, strong, and the same for the same value only', () => {
  expect(TAG).toMatch(/^"[\w-]{43}"$/)
  expect(entityTagOf({ url: 'https://client.example' })).toBe(TAG)
  expect(entityTagOf({ url: 'https://other.example' })).not.toBe(TAG)
})

test.each<[string, string | undefined, boolean]>([
  ['no header', undefined, true],
  ['*', '*', true],
  ['the tag', TAG, true],
  ['a list with the tag', `"other", ${TAG}`, true],
  ['a list with empty members', `, ,${TAG},`, true],
  ['another tag', '"other"', false],
  ['a tag with a comma', `"a,${TAG.slice(1)}`, false],
  ['the empty tag', '""', false],
  ['the tag as a weak one', `W/${TAG}`, false],
  ['a list without the tag', `W/${TAG}, "other"`, false],
])('%s: %s is met: %s', (_what, header, expected) => {
  expect(isMet(header)).toBe(expected)
})

test.each(['', TAG.slice(1, -1), `${TAG}, other`, `*, ${TAG}`, '"a', 'w/"a"', `${TAG};q=1`])(
  '%j is not a valid If-Match',
  (header) => {
    expect(() => ifMatchOf(header)).toThrow('If-Match must be * or the ETag')
  },
)
