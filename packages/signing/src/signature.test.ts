import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { newWebhookSecret, signatureOf, signingKeyOf } from './signer.ts'

const nowSeconds = (): number => Math.floor(Date.now() / 1_000)
const json = fc.json().map((text) => Buffer.from(text))

/** Verifies like a receiver that uses the library of Standard Webhooks. */
function verify(secret: string, body: Buffer, id: string, timestampSeconds: number, signature: string): unknown {
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signature,
  }
  return new Webhook(secret).verify(body, headers)
}

test('a secret has the form of the specification and is unique', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
  }
})

test('the library of the specification verifies any signed message', () => {
  fc.assert(
    fc.property(json, fc.uuid(), (body, id) => {
      const secret = newWebhookSecret()
      const timestampSeconds = nowSeconds()
      const signature = signatureOf([signingKeyOf(secret)], { id, timestampSeconds, body })
      expect(verify(secret, body, id, timestampSeconds, signature)).toEqual(JSON.parse(body.toString()))
    }),
  )
})

test('with several secrets, a receiver can verify with each of them and with no other', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()]
  const message = { id: 'one', timestampSeconds: nowSeconds(), body: Buffer.from('{"a":1}') }
  const signature = signatureOf(secrets.map(signingKeyOf), message)
  expect(signature.split(' ')).toHaveLength(3)
  const verifyWith = (secret: string) => verify(secret, message.body, message.id, message.timestampSeconds, signature)
  for (const secret of secrets) expect(verifyWith(secret)).toEqual({ a: 1 })
  expect(() => verifyWith(newWebhookSecret())).toThrow('No matching signature found')
})

test.each<[string, Partial<{ id: string; timestampSeconds: number; body: Buffer }>]>([
  ['id', { id: 'two' }],
  ['time', { timestampSeconds: nowSeconds() - 1 }],
  ['body', { body: Buffer.from('{"a":1} ') }],
])('a different %s gives a different signature', (_case, other) => {
  const message = { id: 'one', timestampSeconds: nowSeconds(), body: Buffer.from('{"a":1}') }
  const secret = newWebhookSecret()
  expect(signatureOf([signingKeyOf(secret)], { ...message, ...other })).not.toBe(
    signatureOf([signingKeyOf(secret)], message),
  )
})

test('the example of the specification has the same signature', () => {
  // https://github.com/standard-webhooks/standard-webhooks, the vector of the reference libraries' own tests.
  const signature = signatureOf([signingKeyOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')], {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
  })
  expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})
