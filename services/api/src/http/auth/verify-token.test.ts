import { generateKeyPairSync, sign } from 'node:crypto'
import {
  assert,
  asyncProperty,
  base64String,
  constantFrom,
  dictionary,
  jsonValue,
  oneof,
  string,
  tuple,
} from 'fast-check'

import { rememberTokens } from './remember-tokens.ts'
import { createVerifyToken, type TrustedIssuer, Unauthorized } from './verify-token.ts'

const remembering = (issuers: readonly TrustedIssuer[]) => rememberTokens(createVerifyToken(issuers))

const ISSUER = 'https://idp.example/acme'
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { publicKey: otherKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const keys = { keys: [{ ...(publicKey.export({ format: 'jwk' }) as { kty: string }), kid: 'a', alg: 'ES256' }] }

const verifyToken = remembering([{ issuer: ISSUER, audience: 'switchhook', tenant: 'acme', keysFor: async () => keys }])

const encode = (part: unknown): string => Buffer.from(JSON.stringify(part) ?? '').toString('base64url')

function signed(header: object, claims: unknown): string {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

const HEADER = { alg: 'ES256', kid: 'a' }
const claims = () => ({ iss: ISSUER, aud: 'switchhook', sub: 'crm', exp: Math.floor(Date.now() / 1000) + 60 })

test.each([
  [{}, { clientId: 'crm' }],
  [{ azp: 'crm' }, { clientId: 'crm' }],
  [{ azp: 'app' }, { clientId: 'app', subject: 'crm' }],
  [{ azp: 'app', sub: '' }, { clientId: 'app' }],
])('a valid token with %j identifies the client, the issuer and its tenant', async (more, named) => {
  const token = signed(HEADER, { ...claims(), ...more })
  await expect(verifyToken(`Bearer ${token}`)).resolves.toEqual({
    tenant: 'acme',
    issuer: ISSUER,
    role: 'admin',
    expiresAtMs: expect.any(Number),
    ...named,
  })
})

test('a token that was accepted is rejected once its key is withdrawn', async () => {
  let published = keys
  const verify = remembering([
    { issuer: ISSUER, audience: 'switchhook', tenant: 'acme', keysFor: async () => published },
  ])
  const authorization = `Bearer ${signed(HEADER, claims())}`
  await expect(verify(authorization)).resolves.toMatchObject({ clientId: 'crm' })
  published = { keys: [{ ...(otherKey.export({ format: 'jwk' }) as { kty: string }), kid: 'a', alg: 'ES256' }] }
  await expect(verify(authorization)).rejects.toBeInstanceOf(Unauthorized)
  published = keys
  await expect(verify(authorization)).resolves.toMatchObject({ clientId: 'crm' })
})

test('a token that was accepted is rejected once it has expired', async () => {
  const authorization = `Bearer ${signed(HEADER, claims())}`
  await expect(verifyToken(authorization)).resolves.toMatchObject({ clientId: 'crm' })
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'], now: Date.now() + 70_000 })
  try {
    await expect(verifyToken(authorization)).rejects.toThrow('exp')
  } finally {
    jest.useRealTimers()
  }
})

test('any other Authorization header is rejected', async () => {
  const part = oneof(base64String(), string(), jsonValue().map(encode))
  const token = oneof(
    string(),
    tuple(part, part, part).map((parts) => parts.join('.')),
  )
  await assert(
    asyncProperty(constantFrom('Bearer ', 'bearer ', 'Basic ', ''), token, async (scheme, garbage) => {
      await expect(verifyToken(scheme + garbage)).rejects.toBeInstanceOf(Unauthorized)
    }),
  )
})

test('a valid token with changed header or claims is rejected', async () => {
  const [, , signature] = signed(HEADER, claims()).split('.')
  await assert(
    asyncProperty(dictionary(string(), jsonValue()), dictionary(string(), jsonValue()), async (header, more) => {
      const forged = `${encode({ ...header, ...HEADER })}.${encode({ ...claims(), forged: true, ...more })}.${signature}`
      await expect(verifyToken(`Bearer ${forged}`)).rejects.toBeInstanceOf(Unauthorized)
    }),
  )
})

test('audience, issuer and times of a signed token decide, whatever else it claims', async () => {
  await assert(
    asyncProperty(dictionary(string(), jsonValue()), async (more) => {
      await expect(verifyToken(`Bearer ${signed(HEADER, { ...more, ...claims(), aud: 'else' })}`)).rejects.toThrow(
        'aud',
      )
    }),
  )
})

test('the challenge is a valid header, whatever the reason quotes', () => {
  const { headers } = new Unauthorized('a "quoted"\r\nX-Evil: \\ ä')
  expect(headers['WWW-Authenticate']).toBe(
    `Bearer realm="switchhook", error="invalid_token", error_description="a 'quoted'X-Evil:  "`,
  )
})
