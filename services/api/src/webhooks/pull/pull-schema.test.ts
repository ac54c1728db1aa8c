import { outcomeOf } from './pull-schema.ts'

/** Of the outcome, as it is stored in Redis until a worker records it. */
const storedOf = (answer: string): string => JSON.stringify(outcomeOf({ status: 400, answer }))

test.each([
  ['a short answer', 'no such customer', 'no such customer'],
  ['control characters, which JSON makes six times as long', 'a\u0000b\nc', 'a b c'],
  ['characters of four bytes', '\u{1f4de}'.repeat(512), ''],
  ['words beyond 1,024 bytes; the last is not cut', `${'grün '.repeat(204)}secret`, 'grün '.repeat(170)],
])('of %s, the stored outcome keeps what a worker reads of an answer to a POST', (_case, answer, kept) => {
  expect(outcomeOf({ status: 400, answer })).toMatchObject({ kind: 'answered', status: 400, answer: kept })
})

test.each(['\u0000', '"', '\\', '\u{1f4de} ', 'ü'])(
  'the stored outcome with an answer of %j has at most 2.1 KB',
  (character) => {
    expect(Buffer.byteLength(storedOf(character.repeat(1_024 / character.length)))).toBeLessThan(2_150)
  },
)
