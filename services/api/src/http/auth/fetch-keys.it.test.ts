import { createSocket } from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, type Receiver, startReceiver, temporaryFolder } from '@switchhook/testkit'
import { fetchKeys, secureAs } from './fetch-keys.ts'
import { openProviderConnections } from './provider-connections.ts'

const RSA = { kty: 'RSA', kid: 'a', n: 'AQAB', e: 'AQAB' }

const connections = openProviderConnections(2_000)
afterAll(() => connections.close())

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
  fetchKeys(
    { issuer: 'https://idp.example', audience: 'x', tenant: null, jwksUri: server.url('/keys') },
    timeoutMs,
    connections,
  )

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
  const discovered = (path: string) =>
    fetchKeys({ issuer: server.url(path), audience: 'x', tenant: null }, 2_000, connections)

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

describe('the names of providers', () => {
  const { lookup } = dns
  const opened: { close(): unknown }[] = []

  afterEach(async () => {
    Object.assign(dns, { lookup })
    for (const one of opened.splice(0)) await one.close()
  })

  /** Stands in for the system's look-up, which has two threads. A silent name keeps one. */
  function systemLookup(): void {
    let threads = 2
    const lookup = (name: string, _options: object, done: (error: null, found: dns.LookupAddress[]) => void): void => {
      if (threads === 0) return
      if (name.startsWith('silent')) threads -= 1
      else done(null, [{ address: '127.0.0.1', family: 4 }])
    }
    Object.assign(dns, { lookup })
  }

  test.each([
    [['silent-1.example', 'silent-2.example'], 'fetch failed'],
    [['keycloak', 'keycloak.auth.svc.cluster.local'], undefined],
  ])('%j keep no other name from being looked up by the system', async (names, reason) => {
    systemLookup()
    const folder = temporaryFolder('providers-')
    const files = { hosts: join(folder, 'hosts'), resolvConf: join(folder, 'resolv.conf') }
    writeFileSync(files.hosts, '127.0.0.1 keycloak keycloak.auth.svc.cluster.local\n')
    const nameServer = createSocket('udp4').bind(0, '127.0.0.1')
    opened.push(nameServer, { close: () => rmSync(folder, { recursive: true }) })
    await once(nameServer, 'listening')
    const servers = [`127.0.0.1:${nameServer.address().port}`]
    const own = openProviderConnections(400, { files, servers })
    opened.push({ close: () => own.destroy() })
    server.answer('/keys', json({ keys: [RSA] }))
    const reasons = names.map((name) => {
      const jwksUri = server.url('/keys').replace('127.0.0.1', name)
      return fetchKeys({ issuer: jwksUri, audience: 'x', tenant: null, jwksUri }, 2_000, own).then(
        () => undefined,
        ({ message }: Error) => message,
      )
    })
    const ended = await Promise.all(reasons)
    const found = jest.fn()
    dns.lookup('redis.example', { all: true }, found)
    expect(found).toHaveBeenCalledTimes(1)
    expect(ended).toEqual([reason, reason])
  })

  test('are left to the proxy that Node.js is told to use', async () => {
    const proxied = { NODE_USE_ENV_PROXY: '1', http_proxy: server.url('') }
    Object.assign(process.env, proxied)
    const own = openProviderConnections(2_000)
    opened.push(own)
    for (const name of Object.keys(proxied)) Reflect.deleteProperty(process.env, name)
    const jwksUri = 'http://keys.invalid/keys'
    server.answer(jwksUri, json({ keys: [RSA] }))
    expect((await fetchKeys({ issuer: jwksUri, audience: 'x', tenant: null, jwksUri }, 2_000, own)).keys).toEqual([RSA])
  })
})
