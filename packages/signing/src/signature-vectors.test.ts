import { Webhook } from 'standardwebhooks'
import { signatureOf, signingKeyOf } from './signer.ts'
import { nowSeconds, vectors } from './testing/vectors.ts'

const TOLERANCE_SECONDS = 300

beforeEach(() => void jest.useFakeTimers({ now: nowSeconds * 1_000 }))
afterEach(() => void jest.useRealTimers())

test.each(vectors)('$name: our signature and the library agree', ({ secret, headers, body, valid }) => {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  const message = { id, timestampSeconds: Number(timestamp), body: Buffer.from(body) }
  const isOurs = secret !== '' && signatures.split(' ').includes(signatureOf([signingKeyOf(secret)], message))
  const isRecent = Math.abs(nowSeconds - message.timestampSeconds) <= TOLERANCE_SECONDS
  expect(isOurs && isRecent).toBe(valid)

  const verify = (): unknown => new Webhook(secret).verify(body, headers)
  if (valid) expect(verify()).toEqual(JSON.parse(body))
  else expect(verify).toThrow(/signature|timestamp|headers|empty/i)
})

test('the vectors have names of their own, and some of each result', () => {
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
  const validOnes = vectors.filter(({ valid }) => valid).length
  expect([validOnes, vectors.length - validOnes]).toEqual([8, 14])
})
