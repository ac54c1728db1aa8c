import fc from 'fast-check'
import { readAnswerHead } from './answer-head.ts'

const CONTINUE = 'HTTP/1.1 100 Continue\r\nServer: old\r\n\r\n'
const EARLY = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n'
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nxx'

/** The bytes that undici reads of an answer that arrives in these chunks. */
function read(chunks: readonly string[], answers = 1): string {
  const filter = readAnswerHead()
  for (let n = 0; n < answers; n++) filter.expectAnswer()
  return chunks.map((chunk) => filter.pass(Buffer.from(chunk)).toString()).join('')
}

/** Cuts the text into pieces at the given places. */
const cut = (text: string, places: readonly number[]): string[] => {
  const ends = [...new Set(places.map((place) => place % text.length))].toSorted((a, b) => a - b)
  return [0, ...ends].map((from, index) => text.slice(from, ends[index] ?? text.length))
}

test('drops every 100 before the answer, and nothing else, however the bytes are split', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(CONTINUE, EARLY), { maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      (interim, places) => {
        const kept = interim.filter((head) => head !== CONTINUE)
        expect(read(cut([...interim, ANSWER].join(''), places))).toBe([...kept, ANSWER].join(''))
      },
    ),
  )
})

test('passes on the same chunk, not a copy, when the answer comes first', () => {
  const filter = readAnswerHead()
  filter.expectAnswer()
  const chunk = Buffer.from(ANSWER)
  expect(filter.pass(chunk)).toBe(chunk)
})

test('passes on a 100 without a request', () => {
  expect(read([CONTINUE], 0)).toBe(CONTINUE)
})

test('checks the answer to the next request again', () => {
  const filter = readAnswerHead()
  for (let n = 0; n < 2; n++) {
    filter.expectAnswer()
    expect(filter.pass(Buffer.from(CONTINUE + ANSWER)).toString()).toBe(ANSWER)
  }
})

test.each([
  ['HTTP/1.1 200 OK\r\n', 200],
  ['HTTP/1.1 204\r\n\r\n', 204],
  ['HTTP/1.0 503 Away\n\n', 503],
  [`${CONTINUE}${EARLY}HTTP/1.1 410 Gone\r\n`, 410],
  [EARLY, 0],
  ['HTTP/1.1 2000 OK\r\n', 0],
  ['HTTP/1.1 20', 0],
  ['HTTP/1.1 2x0 OK\r\n', 0],
  ['HTTP/2.0 200 OK\r\n', 0],
  ['SSH-2.0-OpenSSH_9.2\r\n', 0],
])('%j has the status %i, however its bytes are split', (text, status) => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 8 }), (places) => {
      const head = readAnswerHead()
      head.expectAnswer()
      for (const chunk of cut(text, places)) head.pass(Buffer.from(chunk))
      expect(head.status()).toBe(status)
      head.expectAnswer()
      expect(head.status()).toBe(0)
    }),
  )
})

test('passes on bytes that are not HTTP', () => {
  expect(read(['SSH-2.0-OpenSSH_9.2\r\n'])).toBe('SSH-2.0-OpenSSH_9.2\r\n')
  expect(read(['HTTP/1.1 100 Continue\n\n'])).toBe('HTTP/1.1 100 Continue\n\n')
})

test('passes on a 100 that is too long', () => {
  const endless = `HTTP/1.1 100 ${'x'.repeat(5_000)}`
  expect(read([endless])).toBe(endless)
})
