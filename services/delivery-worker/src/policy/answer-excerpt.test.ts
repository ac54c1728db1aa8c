import * as fc from 'fast-check'
import { answerExcerpt, EXCERPT_BYTES, EXCERPT_SOURCE_BYTES } from './answer-excerpt.ts'

const of = (text: string, isWhole = true): string | undefined => answerExcerpt(Buffer.from(text), isWhole)

test.each<[string, string]>([
  ['wrong key: s3cr3t-ab', 'wrong key: [redacted]'],
  // Complete, and in pieces.
  ['{"got":"Basic dXNlcg== x"}', '{"got":"[redacted]"}'],
  ['dXNlcg== is refused', '[redacted] is refused'],
])('a value of a header is redacted in %j', (text, expected) => {
  expect(answerExcerpt(Buffer.from(text), true, ['s3cr3t-ab', 'Basic dXNlcg== x'])).toBe(expected)
})

test('no part of a value of a header is left, wherever the body or the excerpt is cut', () => {
  const value = 'Token k9-secret-k9 k9-tail'
  for (let length = 0; length < EXCERPT_BYTES + 40; length++) {
    const body = Buffer.from(`${'-'.repeat(length)} ${value} and more`)
    for (const end of [body.length, length + 5, length + 12, length + 20]) {
      const excerpt = answerExcerpt(body.subarray(0, end), end === body.length, [value]) ?? ''
      expect(excerpt).not.toContain('k9-')
    }
  }
})

test('values that are in the word "redacted" itself do not make the text longer with each header', () => {
  expect(answerExcerpt(Buffer.from('see it'), true, ['e', 'd', 'e', 'redacted'])).toBe('s[redacted][redacted] it')
})

const JWT = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'
const BASE64 = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const HEX = '9f86d081884c7d659a2feaa0c55ad015'

test.each<[string, string | undefined]>([
  ['', undefined],
  [' \r\n\t ', undefined],
  ['maintenance until 18:00', 'maintenance until 18:00'],
  ['{"error":"no such hook","code":17}', '{"error":"no such hook","code":17}'],
  ['first\r\nsecond\u2028third\tand\u0007bell', 'first second third and bell'],
  ['\u202eright to left\u0085', 'right to left'],
  ['Zoë ☎ is away', 'Zoë ☎ is away'],
  ['<title>502 Bad Gateway</title>', '<title>502 Bad Gateway</title>'],
  ['no delivery 6f9c2f0e-54c6-5a0e-9b57-6d1f0c6f5a0b', 'no delivery 6f9c2f0e-54c6-5a0e-9b57-6d1f0c6f5a0b'],
  ['token expired', 'token expired'],
  [`Authorization: Bearer abc`, 'Authorization: [redacted]'],
  ['authorization: ApiKey abc def', 'authorization: [redacted]'],
  ['got "Bearer abc.def-1", wanted another', 'got "Bearer [redacted]", wanted another'],
  ['Set-Cookie: a=b; c=d', 'Set-Cookie: [redacted]'],
  [`jwt ${JWT} expired`, 'jwt [redacted] expired'],
  ['secret whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD wrong', 'secret [redacted] wrong'],
  ['key sk_live_123 revoked', 'key [redacted] revoked'],
  [`digest ${HEX}`, 'digest [redacted]'],
  [`sum ${HEX} differs`, 'sum [redacted] differs'],
  [`sum ${BASE64}== differs`, 'sum [redacted] differs'],
  ['{"user":"zoe","password":"hun\\"ter 2","n":1}', '{"user":"zoe","password":"[redacted]","n":1}'],
  ['{"dbPassword": "x y"}', '{"dbPassword": "[redacted]"}'],
  ['{"said":"{\\"api_key\\":\\"abc def\\",\\"n\\":1}"}', '{"said":"{\\"api_key\\":\\"[redacted]\\",\\"n\\":1}"}'],
  ['{"message":"password=hunter2 is wrong"}', '{"message":"password=[redacted] is wrong"}'],
  ["{'client_secret': 'abc'}", "{'client_secret': '[redacted]'}"],
  ['user=zoe&access_token=abc&n=1', 'user=zoe&access_token=[redacted]&n=1'],
  ['postgres://zoe:hunter2@db/calls refused', 'postgres://[redacted]@db/calls refused'],
  ['mail zoe.o-neill+x@client.example now', 'mail [redacted] now'],
  ['compass: north, passenger: 2', 'compass: north, passenger: 2'],
])('%j is stored as %j', (text, expected) => expect(of(text)).toBe(expected))

test.each<[string, Buffer]>([
  ['an image', Buffer.from('89504e470d0a1a0a', 'hex')],
  ['something compressed', Buffer.from('1f8b0800000000000003', 'hex')],
  ['text with a NUL in it', Buffer.from('a\0b')],
])('%s is not text', (_what, bytes) => expect(answerExcerpt(bytes, true)).toBeUndefined())

test('a text that is cut within a secret does not show the secret’s beginning', () => {
  expect(of('{"password":"correct horse batt', false)).toBe('{"password":"[redacted]"')
  expect(of('mail zoe@client', false)).toBe('mail')
  expect(of(`token is MfKQ9r8`, false)).toBe('token is')
})

test('a text that ends within a character is text', () => {
  expect(answerExcerpt(Buffer.from('away ☎').subarray(0, -1), false)).toBe('away')
})

test('an excerpt ends before the character that does not fit', () => {
  expect(of('☎'.repeat(EXCERPT_BYTES))).toBe('☎'.repeat(Math.floor(EXCERPT_BYTES / 3)))
})

/** Words of answers, with everything that could confuse the parser. */
const noise = fc.array(
  fc.oneof(
    fc.constantFrom('error', '"', "'", '\\', '{', '}', ':', '=', '&', ' ', '\n', ',', ';', '@', '/', '☎', 'password'),
    fc.string({ maxLength: 8 }),
  ),
  { maxLength: 30 },
)

const isTidy = (text: string): boolean => !/[\p{C}\p{Zl}\p{Zp}]/u.test(text) && Buffer.byteLength(text) <= EXCERPT_BYTES

test('any input becomes one short line of text', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: EXCERPT_SOURCE_BYTES }), fc.boolean(), (bytes, isWhole) => {
      expect(isTidy(answerExcerpt(Buffer.from(bytes), isWhole) ?? '')).toBe(true)
    }),
  )
  // All of Unicode, also single surrogates.
  const unit = fc.integer({ min: 0, max: 0x10_ff_ff }).map((code) => String.fromCodePoint(code))
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 600 }), fc.boolean(), (text, isWhole) => {
      expect(isTidy(of(text, isWhole) ?? '')).toBe(true)
    }),
  )
})

/** Places of a secret in an answer. Between blanks, because any other character may belong to the secret. */
const PLACES: Readonly<Record<string, (secret: string) => string>> = {
  bearer: (secret) => `Bearer ${secret}`,
  header: (secret) => `X-Api-Key: ${secret}`,
  authorization: (secret) => `Authorization: Custom ${secret}`,
  json: (secret) => `{"password":"${secret}"}`,
  'json with blanks': (secret) => `{ "clientSecret" : "so ${secret} long" }`,
  form: (secret) => `token=${secret}`,
  url: (secret) => `https://zoe:${secret}@client.example/`,
  'secret of the specification': (secret) => `whsec_${secret}`,
  address: (secret) => `${secret}@client.example`,
  jwt: (secret) => `eyJhbGciOiJub25lIn0.${secret}`,
}

test.each(Object.entries(PLACES))('a secret is never shown: %s', (_name, place) => {
  const secret = fc.stringMatching(/^[a-z][a-z0-9]{9,20}$/)
  fc.assert(
    fc.property(noise, secret, noise, fc.integer({ min: 5, max: 9 }), (before, hidden, after, shown) => {
      const part = hidden.slice(0, shown)
      const [left = '', right = ''] = [before, after].map((words) => words.join('').replaceAll(part, ''))
      const text = `${left} ${place(hidden)} ${right}`
      expect(of(text) ?? '').not.toContain(hidden)
      const cutOff = text.slice(0, text.indexOf(hidden) + shown)
      expect(of(cutOff, false) ?? '').not.toContain(part)
    }),
  )
})
