import { type Answer, type Receiver, startReceiver } from '@switchhook/testkit'
import { fetchKeys, secureAs } from './fetch-keys.ts'

const RSA = { kty: 'RSA', kid: 'a', n: 'AQAB', e: 'AQAB' }

let server: Receiver

beforeEach(async () => {
  server = await startReceiver({ status: 404 })
})

afterEach(() => server.close())

const json = (body: unknown, status = 200): Answer => ({
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

/** Fetches the keys of a provider at /keys. */
const fetched = (timeoutMs = 2_000) =>
  fetchKeys({ issuer: 'https://idp.example', audience: 'x', tenant: null, jwksUri: server.url('/keys') }, timeoutMs)

test('only public signing keys are taken', async () => {
  const keys = [
    RSA,
    { ...RSA, kid: 'b', use: 'sig' },
    { ...RSA, kid: 'c', use: 'enc' },
    { kty: 'oct', kid: 'd', k: 'AAAA' },
  ]
  server.answer('/keys', json({ keys }))
  expect((await fetched()).keys.map(({ kid }) => kid)).toEqual(['a', 'b'])
})

test.each<[string, Answer, string]>([
  ['an error', json({ keys: [RSA] }, 500), 'answered 500'],
  ['not JSON', { status: 200, body: '<html>' }, 'JSON'],
  ['no keys at all', json({ keys: [] }), 'no signing key'],
  ['secrets only', json({ keys: [{ kty: 'oct', k: 'AAAA' }] }), 'no signing key'],
  ['something else', json([RSA]), 'JSON Web Key Set'],
  ['keys without a type', json({ keys: [{ kid: 'a' }] }), 'no signing key that can be read'],
  ['a redirect without a location', { status: 302 }, 'answered 302'],
  ['far too much', { status: 200, body: ' '.repeat(2 * 1024 * 1024) }, '1 MiB'],
  ['a reset', { instead: 'reset' }, 'fetch failed'],
])('an answer with %s is rejected', async (_name, answer, reason) => {
  server.answer('/keys', answer)
  await expect(fetched()).rejects.toThrow(reason)
})

test('a key that cannot be read is left out, and counted', async () => {
  const unreadable = [
    { kid: 'b' },
    { ...RSA, kid: null },
    7,
    null,
    { kty: 'RSA', kid: 'c' },
    { ...RSA, kid: 'd', use: 7 },
  ]
  server.answer('/keys', json({ keys: [...unreadable, RSA] }))
  expect(await fetched()).toEqual({ keys: [RSA], unreadable: unreadable.length })
})

test('of more than a hundred keys the first ones are taken', async () => {
  server.answer('/keys', json({ keys: Array.from({ length: 103 }, (_, at) => ({ ...RSA, kid: `key-${at}` })) }))
  const { keys, unreadable } = await fetched()
  expect([keys.length, keys.at(-1)?.kid, unreadable]).toEqual([100, 'key-99', 3])
})

test('a byte order mark in front of the keys is ignored', async () => {
  server.answer('/keys', { status: 200, body: `\ufeff${JSON.stringify({ keys: [RSA] })}` })
  expect((await fetched()).keys).toEqual([RSA])
})

test('redirects are followed, but not for ever', async () => {
  server.answer('/keys', { status: 302, headers: { location: '/moved' } })
  server.answer('/moved', json({ keys: [RSA] }))
  expect((await fetched()).keys).toEqual([RSA])
  server.answer('/moved', { status: 302, headers: { location: '/keys' } })
  await expect(fetched()).rejects.toThrow('answered 302')
})

test.each([
  ['https://idp.example/keys', 'http://idp.example/keys'],
  ['https://idp.example/keys', 'file:///etc/passwd'],
  ['http://idp.example/keys', 'file:///etc/passwd'],
])('%s does not lead to %s', (from, to) => {
  expect(() => secureAs(from, to)).toThrow('which is not https')
})

test.each([
  ['https://idp.example/a/keys', '../b', 'https://idp.example/b'],
  ['http://idp.example/keys', 'https://idp.example/keys', 'https://idp.example/keys'],
  ['http://idp.example/keys', '//other.example/keys', 'http://other.example/keys'],
])('%s leads to %s', (from, to, target) => {
  expect(secureAs(from, to)).toBe(target)
})

test.each(['hang', 'endless'] as const)('a provider that answers with "%s" is not awaited', async (instead) => {
  server.answer('/keys', { instead, status: 200 })
  await expect(fetched(200)).rejects.toThrow('did not answer within 200 ms')
})

describe('without a jwksUri', () => {
  const discovered = (path: string) => fetchKeys({ issuer: server.url(path), audience: 'x', tenant: null }, 2_000)

  test.each(['/acme', '/acme/', ''])('the keys of the issuer at "%s" are found by discovery', async (path) => {
    const base = path.replace(/\/$/, '')
    server.answer(
      `${base}/.well-known/openid-configuration`,
      json({ issuer: server.url(path), jwks_uri: server.url('/keys') }),
    )
    server.answer('/keys', json({ keys: [RSA] }))
    expect((await discovered(path)).keys).toEqual([RSA])
  })

  test('a document of another issuer is rejected', async () => {
    server.answer(
      '/acme/.well-known/openid-configuration',
      json({ issuer: server.url('/globex'), jwks_uri: server.url('/keys') }),
    )
    await expect(discovered('/acme')).rejects.toThrow('another issuer')
  })

  test.each([[{}], [{ jwks_uri: 'file:///etc/passwd' }], [null]])('the document %j is rejected', async (document) => {
    server.answer(
      '/acme/.well-known/openid-configuration',
      json(document && { issuer: server.url('/acme'), ...document }),
    )
    await expect(discovered('/acme')).rejects.toThrow('does not name the key set')
  })
})
