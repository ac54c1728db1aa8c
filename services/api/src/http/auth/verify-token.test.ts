import { generateKeyPairSync } from 'node:crypto'
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

import { encode, requestWith, signedWith } from '../../testing/token-request.ts'
import type { Key, KeySet } from './fetch-keys.ts'
import { startKeyCache } from './key-cache.ts'
import { rememberTokens } from './remember-tokens.ts'
import { createVerifyToken, type TrustedIssuer, Unauthorized } from './verify-token.ts'

function remembering(issuers: readonly TrustedIssuer[]) {
  const verify = rememberTokens(createVerifyToken(issuers))
  return (authorization: string) => verify(requestWith(authorization))
}

const ISSUER = 'https://idp.example/acme'
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { publicKey: otherKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = publicKey.export({ format: 'jwk' }) as Key
const otherJwk = otherKey.export({ format: 'jwk' }) as Key
const setOf = (...keys: Key[]): KeySet => ({ keys, unreadable: 0 })
const keys = setOf({ ...jwk, kid: 'a', alg: 'ES256' })

const acme = {
  issuer: ISSUER,
  audience: 'switchhook',
  tenant: 'acme',
  keysFor: async () => keys,
  currentKeys: () => keys,
}
const verifyToken = remembering([acme])

const signed = (header: object, claims: unknown): string => signedWith(privateKey, header, claims)

const HEADER = { alg: 'ES256', kid: 'a' }
const claims = () => ({ iss: ISSUER, aud: 'switchhook', sub: 'crm', exp: Math.floor(Date.now() / 1000) + 60 })

test.each([
  [{}, { clientId: 'crm' }],
  [{ azp: 'crm' }, { clientId: 'crm' }],
  [{ azp: 'app' }, { clientId: 'app', subject: 'crm' }],
  [{ azp: 'app', sub: '' }, { clientId: 'app' }],
  [
    { azp: 'a', client_id: 'b', appid: 'c', cid: 'd' },
    { clientId: 'a', subject: 'crm' },
  ],
  [
    { client_id: 'b', appid: 'c', cid: 'd' },
    { clientId: 'b', subject: 'crm' },
  ],
  [
    { azp: 7, appid: 'c', cid: 'd' },
    { clientId: 'c', subject: 'crm' },
  ],
  [{ cid: 'd' }, { clientId: 'd', subject: 'crm' }],
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

test.each([
  ['http://api/api/v1/me', 'api'],
  ['http://api:8080/api/v1/me', 'api:8080'],
  ['/api/v1/me?access_token=other', 'api'],
  ['/api/v1/me', "api's"],
])('only the header decides about a request of %s from the host %s', async (url, host) => {
  const authorization = `Bearer  ${signed(HEADER, claims())}`
  const verify = createVerifyToken([acme])
  await expect(verify(requestWith(authorization, url, host))).resolves.toMatchObject({ caller: { clientId: 'crm' } })
})

test('a token that was accepted is rejected once its key is withdrawn', async () => {
  let published = keys
  const verify = remembering([{ ...acme, keysFor: async () => published, currentKeys: () => published }])
  const authorization = `Bearer ${signed(HEADER, claims())}`
  await expect(verify(authorization)).resolves.toMatchObject({ clientId: 'crm' })
  published = setOf({ ...otherJwk, kid: 'a', alg: 'ES256' })
  await expect(verify(authorization)).rejects.toBeInstanceOf(Unauthorized)
  published = keys
  await expect(verify(authorization)).resolves.toMatchObject({ clientId: 'crm' })
})

test('a token that was accepted waits for one fetch once its key is withdrawn', async () => {
  let published = keys
  let fetches = 0
  const fetchKeys = async () => {
    fetches += 1
    return structuredClone(published)
  }
  const cache = startKeyCache(fetchKeys, { refreshMs: 60_000, cooldownMs: 0 }, { info: () => {}, warn: () => {} })
  try {
    const verify = remembering([{ ...acme, ...cache }])
    const authorization = `Bearer ${signed(HEADER, claims())}`
    await verify(authorization)
    published = setOf({ ...otherJwk, kid: 'b', alg: 'ES256' })
    await cache.keysFor('b')
    fetches = 0
    await expect(verify(authorization)).rejects.toBeInstanceOf(Unauthorized)
    expect(fetches).toBe(1)
  } finally {
    cache.close()
  }
})

test('an issuer can name the claim that has the client', async () => {
  const clientIdClaims = ['none', '/app/id']
  const verify = remembering([{ ...acme, clientIdClaims }])
  const token = signed(HEADER, { ...claims(), azp: 'crm', app: { id: 'deep' } })
  await expect(verify(`Bearer ${token}`)).resolves.toMatchObject({ clientId: 'deep' })
})

/** Verifies tokens of an issuer with these keys, and asks for further ones when they do not fit. */
function verifying(published: KeySet, later = published) {
  const keysFor = async (_kid?: string, tried?: KeySet) => (tried === undefined ? published : later)
  return remembering([{ ...acme, keysFor }])
}

const withoutKid = (more: object = {}) => `Bearer ${signed({ alg: 'ES256' }, { ...claims(), ...more })}`

test('each key that fits the algorithm is tried for a token without a kid', async () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' }) as Key
  const verify = verifying(setOf(otherJwk, rsa, jwk, { ...otherJwk, alg: 'ES384' }))
  await expect(verify(withoutKid())).resolves.toMatchObject({ clientId: 'crm' })
  await expect(verify(withoutKid({ aud: 'else' }))).rejects.toThrow("Unexpected 'aud' value")
})

test('a token without a kid is verified with the next keys, if none of the known ones signed it', async () => {
  await expect(verifying(setOf(otherJwk), setOf(jwk))(withoutKid())).resolves.toMatchObject({ clientId: 'crm' })
  await expect(verifying(setOf(otherJwk))(withoutKid())).rejects.toThrow('signature')
})

test.each([{ cnf: { jkt: 'x' } }, { token_use: 'id' }])('a token with %j is no access token', async (more) => {
  await expect(verifyToken(`Bearer ${signed(HEADER, { ...claims(), ...more })}`)).rejects.toBeInstanceOf(Unauthorized)
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

test('a token without a kid is tried with ten keys, so that a provider with thousands cannot keep the process busy', async () => {
  const token = `Bearer ${signed({ alg: 'ES256' }, claims())}`
  const verifyWith = (others: number) => {
    const published = setOf(...Array.from({ length: others }, (_, at) => ({ ...otherJwk, kid: `other-${at}` })), jwk)
    return remembering([{ ...acme, keysFor: async () => published }])(token)
  }
  await expect(verifyWith(9)).resolves.toMatchObject({ clientId: 'crm' })
  await expect(verifyWith(10)).rejects.toBeInstanceOf(Unauthorized)
})
