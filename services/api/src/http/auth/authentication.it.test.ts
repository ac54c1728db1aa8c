import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import {
  startTokenIssuer,
  type TestBroker,
  type TestRedis,
  type TokenIssuer,
  testBroker,
  testRedis,
} from '@switchhook/testkit'
import { documentPath, SPECS } from '../../describe-api.ts'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'

const PATH = '/api/v1/webhooks/subscriptions'

let redis: TestRedis
let broker: TestBroker
let acme: TokenIssuer
let globex: TokenIssuer
let api: ApiUnderTest

const issuersOf = (...issuers: [TokenIssuer, string | null][]): string =>
  JSON.stringify(issuers.map(([{ issuer, audience, jwksUri }, tenant]) => ({ issuer, audience, jwksUri, tenant })))

const started: { close(): Promise<void> }[] = []

/** Starts another api with other settings. */
async function anApi(
  env: Record<string, string>,
  options?: Parameters<typeof startApiUnderTest>[1],
): Promise<ApiUnderTest> {
  const made = await startApiUnderTest({ REDIS_URL: redis.redisUrl, AMQP_URL: broker.amqpUrl, ...env }, options)
  started.push(made)
  return made
}

async function anIssuer(): Promise<TokenIssuer> {
  const made = await startTokenIssuer()
  started.push(made)
  return made
}

beforeAll(async () => {
  ;[redis, broker] = await Promise.all([testRedis(), testBroker()])
  acme = await startTokenIssuer()
  globex = await startTokenIssuer({ audience: 'switchhook-globex' })
  api = await startApiUnderTest({
    REDIS_URL: redis.redisUrl,
    AMQP_URL: broker.amqpUrl,
    AUTH_ISSUERS: issuersOf([acme, 'acme'], [globex, 'globex']),
  })
})

afterEach(async () => {
  for (const one of started.splice(0).toReversed()) await one.close()
})

afterAll(async () => {
  await api.close()
  await Promise.all([redis.close(), broker.close(), acme.close(), globex.close()])
})

const get = (token: string, of = api) => of.call('GET', PATH, { headers: { authorization: `Bearer ${token}` } })

describe('a request without a token', () => {
  test.each(SPECS.filter(({ isPublic }) => isPublic !== true))(
    '$method $path answers 401 and asks for a bearer token',
    async ({ method, path }) => {
      const { status, headers, body } = await api.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'))
      expect(status).toBe(401)
      expect(body).toMatchObject({ code: 'unauthorized' })
      expect(headers.get('www-authenticate')).toBe('Bearer realm="switchhook"')
    },
  )

  test('gets the API document, which equals docs/openapi.json', async () => {
    const { status, body } = await api.call('GET', '/api/v1/openapi.json')
    expect(status).toBe(200)
    expect(body).toEqual(JSON.parse(readFileSync(documentPath('openapi.json'), 'utf8')))
  })
})

describe('a valid token', () => {
  test.each<[string, () => string]>([
    ['signed with RS256', () => acme.token()],
    ['signed with ES256', () => acme.token({}, { alg: 'ES256' })],
    ['for several audiences', () => acme.token({ aud: ['else', acme.audience] })],
    ['without a key id', () => acme.token({}, { kid: undefined })],
    ['of the other tenant, for its own audience', () => globex.token()],
  ])('%s is accepted', async (_name, token) => {
    expect((await get(token())).status).toBe(200)
  })

  test.each(['bearer', 'BEARER'])('is accepted after %j', async (scheme) => {
    const headers = { authorization: `${scheme} ${acme.token()}` }
    expect((await api.call('GET', PATH, { headers })).status).toBe(200)
  })

  test.each<[object, string]>([
    [{ azp: 'crm', client_id: 'x', sub: 'y' }, 'crm'],
    [{ azp: undefined, client_id: 'crm', sub: 'y' }, 'crm'],
    [{ azp: undefined, client_id: undefined, sub: 'crm' }, 'crm'],
    [{ appid: 'crm', sub: 'y' }, 'crm'],
    [{ cid: 'crm', sub: 'y' }, 'crm'],
    [{ azp: undefined, client_id: undefined, sub: undefined }, 'unknown'],
  ])('with the claims %j is the client %s in the log', async (claims, clientId) => {
    const { headers } = await get(acme.token(claims as Record<string, unknown>))
    const line = api.log.find(({ fields }) => fields['requestId'] === headers.get('x-request-id'))
    expect(line).toMatchObject({ level: 'info', message: 'request', fields: { clientId, tenant: 'acme', status: 200 } })
  })
})

const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/** A token with this header and the signature of another one. */
const withHeader = (header: object): string => {
  const [, payload, signature] = acme.token().split('.')
  return [encode(header), payload, signature].join('.')
}

describe('an invalid token', () => {
  test.each<[string, () => string]>([
    ['that is not signed', () => acme.token({}, { forgery: 'none' })],
    ['signed with the public key as a shared secret', () => acme.token({}, { forgery: 'HS256' })],
    ['signed with an unknown key', () => acme.token({}, { forgery: 'stranger' })],
    ['changed after signing', () => acme.token({}, { forgery: 'tampered' })],
    ['for another audience', () => acme.token({ aud: 'else' })],
    ['for no audience', () => acme.token({ aud: undefined })],
    ['for the audience of another issuer', () => acme.token({ aud: globex.audience })],
    ['of an unknown issuer', () => acme.token({ iss: 'https://idp.example' })],
    ['of an issuer with another spelling', () => acme.token({ iss: `${acme.issuer}/` })],
    ['of no issuer', () => acme.token({ iss: undefined })],
    ['that claims another tenant’s issuer', () => acme.token({ iss: globex.issuer, aud: globex.audience })],
    ['that has expired', () => acme.token({}, { expiresInS: -60 })],
    ['that never expires', () => acme.token({ exp: undefined })],
    ['that is not valid yet', () => acme.token({ nbf: Math.floor(Date.now() / 1000) + 600 })],
    ['with a made-up key id', () => acme.token({}, { kid: 'made-up' })],
    ['that is garbage', () => 'garbage'],
    ['of garbage in three parts', () => 'a.b.c'],
    ['whose parts are not objects', () => `${encode(null)}.${encode(7)}.x`],
    ['with line breaks in its header', () => withHeader({ alg: 'RS256\r\nX-Evil: 1', kid: 'x' })],
    ['with an algorithm that is not a string', () => withHeader({ alg: ['RS256'] })],
    ['with a critical extension', () => withHeader({ alg: 'RS256', crit: ['exp'], kid: '1' })],
    ['with line breaks in a critical extension', () => withHeader({ alg: 'RS256', crit: ['"\r\nX-Evil: 1\\ä'] })],
  ])('%s answers 401 with a reason', async (_name, token) => {
    const { status, headers, body } = await get(token())
    expect(status).toBe(401)
    expect(body).toMatchObject({ code: 'unauthorized', detail: expect.any(String) })
    expect(headers.get('www-authenticate')).toMatch(
      /^Bearer realm="switchhook", error="invalid_token", error_description="[^"\\]+"$/,
    )
    expect(headers.get('x-evil')).toBeNull()
  })

  test.each(['Basic YTpi', 'Bearer', 'Bearer a b', 'Token x', ''])(
    'the header %j is rejected',
    async (authorization) => {
      const { status } = await api.call('GET', PATH, { headers: { authorization } })
      expect(status).toBe(401)
    },
  )

  test('two Authorization headers are answered 400, also if both are valid', async () => {
    const answered = Promise.withResolvers<number | undefined>()
    const twice = ['authorization', `Bearer ${acme.token()}`, 'Authorization', `Bearer ${acme.token()}`]
    const options = { headers: ['host', new URL(api.url).host, ...twice] }
    request(`${api.url}${PATH}`, options, (answer) => answered.resolve(answer.resume().statusCode))
      .on('error', answered.reject)
      .end()
    expect(await answered.promise).toBe(400)
  })

  test('a token in the query is ignored', async () => {
    expect((await api.call('GET', `${PATH}?access_token=${acme.token()}`)).status).toBe(401)
  })

  test('a token never appears in the log', async () => {
    const good = acme.token()
    const bad = acme.token({ aud: 'else' })
    await get(good)
    await get(bad)
    await api.call('GET', `${PATH}?access_token=${good}`)
    const log = JSON.stringify(api.log)
    for (const part of [...good.split('.'), ...bad.split('.')]) expect(log).not.toContain(part)
  })

  test('environment variables of the library have no effect', async () => {
    const meant = { SECRET: 'x', ISSUER: 'y', JWKS_URI: 'z', TOKEN_SIGNING_ALG: 'HS256', ISSUER_BASE_URL: 'http://x' }
    Object.assign(process.env, meant)
    const idp = await anIssuer()
    const other = await anApi({ AUTH_ISSUERS: issuersOf([idp, 'acme']) })
    try {
      expect((await get(idp.token(), other)).status).toBe(200)
      expect((await get(idp.token({}, { forgery: 'HS256' }), other)).status).toBe(401)
    } finally {
      for (const name of Object.keys(meant)) delete process.env[name]
    }
  })
})

describe('signing keys', () => {
  test('rotate without a restart: new tokens are accepted, tokens of withdrawn keys are rejected', async () => {
    const idp = await anIssuer()
    const other = await anApi({ AUTH_ISSUERS: issuersOf([idp, 'acme']) })
    const old = idp.token()
    expect((await get(old, other)).status).toBe(200)
    idp.rotateKeys()
    expect((await get(idp.token(), other)).status).toBe(200)
    expect((await get(old, other)).status).toBe(401)
  })

  test('that are published right after a fetch are accepted at once', async () => {
    const idp = await anIssuer()
    const keyTiming = { refreshMs: 60_000, cooldownMs: 60_000, timeoutMs: 2_000 }
    const other = await anApi({ AUTH_ISSUERS: issuersOf([idp, 'acme']) }, { keyTiming })
    expect((await get(idp.token(), other)).status).toBe(200)
    idp.rotateKeys()
    expect((await get(idp.token(), other)).status).toBe(200)
  })

  test('are found by discovery if no URL is configured', async () => {
    const idp = await anIssuer()
    const { issuer, audience } = idp
    const other = await anApi({ AUTH_ISSUERS: JSON.stringify([{ issuer, audience, tenant: 'acme' }]) })
    expect((await get(idp.token(), other)).status).toBe(200)
  })

  test('are not fetched again for each invented key id', async () => {
    const idp = await anIssuer()
    const keyTiming = { refreshMs: 60_000, cooldownMs: 5_000, timeoutMs: 2_000 }
    const other = await anApi({ AUTH_ISSUERS: issuersOf([idp, 'acme']) }, { keyTiming })
    const invented = async (i: number) => (await get(idp.token({}, { kid: `made-up-${i}` }), other)).status
    expect(await invented(0)).toBe(401)
    expect(new Set(await Promise.all(Array.from({ length: 20 }, (_, i) => invented(i))))).toEqual(new Set([401]))
    expect(idp.jwksRequests()).toBe(3)
  })

  test('that are published after a look for an invented one are waited for', async () => {
    const idp = await anIssuer()
    const other = await anApi({ AUTH_ISSUERS: issuersOf([idp, 'acme']) })
    expect((await get(idp.token({}, { kid: 'made-up' }), other)).status).toBe(401)
    idp.rotateKeys()
    expect((await get(idp.token(), other)).status).toBe(200)
  })

  test('that are known stay valid while the key server is down', async () => {
    const idp = await anIssuer()
    const other = await anApi({ AUTH_ISSUERS: issuersOf([idp, 'acme']) })
    expect((await get(idp.token(), other)).status).toBe(200)
    await idp.stop()
    expect((await get(idp.token(), other)).status).toBe(200)
    expect((await get(idp.token({}, { expiresInS: -60 }), other)).status).toBe(401)
    expect((await get(idp.token({ aud: 'else' }), other)).status).toBe(401)
  })

  test('that cannot be fetched answer 503, not 401, until the key server is up', async () => {
    const idp = await anIssuer()
    await idp.stop()
    const other = await anApi({ AUTH_ISSUERS: issuersOf([idp, 'acme'], [acme, 'acme-too']) })
    const { status, headers, body } = await get(idp.token(), other)
    expect(status).toBe(503)
    expect(body).toMatchObject({ code: 'service-unavailable' })
    expect(headers.get('retry-after')).toBe('5')
    expect((await get('garbage', other)).status).toBe(401)
    expect((await get(acme.token(), other)).status).toBe(200)
    await idp.start()
    expect((await get(idp.token(), other)).status).toBe(200)
  })
})

function withoutSecret(created: unknown): object {
  const { secret: _, ...subscription } = created as { readonly secret: string }
  return subscription
}

describe('trusted networks', () => {
  const onPremise = { DEPLOYMENT: 'on-premise', AUTH_ISSUERS: '[]' }
  const create = { json: { url: 'https://client.example', eventTypes: ['call.status'] } }

  test('need no token; their requests act for the installation itself', async () => {
    const other = await anApi({
      ...onPremise,
      AUTH_ISSUERS: issuersOf([acme, 'acme']),
      TRUSTED_NETWORKS: '127.0.0.0/8',
    })
    await redis.flush()
    const { status, body } = await other.call('POST', PATH, create)
    expect(status).toBe(201)
    expect((await other.call('GET', PATH)).body).toEqual([withoutSecret(body)])
    expect((await get(acme.token(), other)).body).toEqual([])
  })

  test('act for the configured tenant', async () => {
    const env = { ...onPremise, AUTH_ISSUERS: issuersOf([acme, 'acme']), TRUSTED_NETWORKS: '127.0.0.1' }
    const other = await anApi({ ...env, TRUSTED_NETWORK_TENANT: 'acme' })
    await redis.flush()
    const { body } = await other.call('POST', PATH, create)
    expect((await get(acme.token(), other)).body).toEqual([withoutSecret(body)])
    // The api connects to RabbitMQ in the background, so that line may come last.
    const requests = other.log.filter(({ message }) => message === 'request')
    expect(requests.at(-1)).toMatchObject({ fields: { tenant: 'acme' } })
    expect(other.log.some(({ fields }) => fields['clientId'] === 'trusted-network')).toBe(true)
  })

  test('do not accept an invalid token', async () => {
    const other = await anApi({
      ...onPremise,
      AUTH_ISSUERS: issuersOf([acme, 'acme']),
      TRUSTED_NETWORKS: '127.0.0.0/8',
    })
    expect((await get(acme.token({}, { expiresInS: -60 }), other)).status).toBe(401)
    expect((await other.call('GET', PATH, { headers: { authorization: '' } })).status).toBe(401)
  })

  test.each<[string, Record<string, string>, string | undefined, number]>([
    ['the address of the socket counts', { TRUSTED_NETWORKS: '10.0.0.0/8' }, undefined, 401],
    ['X-Forwarded-For of an unknown proxy is ignored', { TRUSTED_NETWORKS: '10.0.0.0/8' }, '10.1.1.1', 401],
    [
      'X-Forwarded-For of a trusted client that is no proxy is ignored',
      { TRUSTED_NETWORKS: '127.0.0.0/8' },
      '203.0.113.9',
      200,
    ],
    [
      'X-Forwarded-For of a known proxy counts',
      { TRUSTED_NETWORKS: '10.0.0.0/8', TRUST_PROXY: '127.0.0.0/8' },
      '10.1.1.1',
      200,
    ],
    ['also with IPv6', { TRUSTED_NETWORKS: 'fd00::/8', TRUST_PROXY: '127.0.0.1' }, 'fd00::7', 200],
    ['and with IPv4-mapped IPv6', { TRUSTED_NETWORKS: '10.0.0.0/8', TRUST_PROXY: '127.0.0.1' }, '::ffff:10.1.1.1', 200],
    [
      'the last address that is not a proxy counts',
      { TRUSTED_NETWORKS: '10.0.0.0/8', TRUST_PROXY: '127.0.0.1' },
      '10.1.1.1, 203.0.113.9',
      401,
    ],
    [
      'addresses before it do not',
      { TRUSTED_NETWORKS: '10.0.0.0/8', TRUST_PROXY: '127.0.0.1' },
      '203.0.113.9, 10.1.1.1',
      200,
    ],
    [
      'a chain of proxies is followed',
      { TRUSTED_NETWORKS: '10.0.0.0/8', TRUST_PROXY: '127.0.0.1,192.0.2.0/24' },
      '10.1.1.1, 192.0.2.7',
      200,
    ],
    [
      'the address of a proxy itself is not trusted',
      { TRUSTED_NETWORKS: '10.0.0.0/8', TRUST_PROXY: '127.0.0.1' },
      undefined,
      401,
    ],
    [
      'an address with a port counts',
      { TRUSTED_NETWORKS: '10.0.0.0/8', TRUST_PROXY: '127.0.0.1' },
      '10.1.1.1:51234',
      200,
    ],
    [
      'an IPv6 address with a port counts',
      { TRUSTED_NETWORKS: 'fd00::/8', TRUST_PROXY: '127.0.0.1' },
      '203.0.113.9:80, [fd00::7]:51234',
      200,
    ],
    ['an invalid address is not trusted', { TRUSTED_NETWORKS: '10.0.0.0/8', TRUST_PROXY: '127.0.0.1' }, 'unknown', 401],
  ])('%s', async (_name, env, forwardedFor, status) => {
    const other = await anApi({ ...onPremise, ...env })
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    expect((await other.call('GET', PATH, { headers })).status).toBe(status)
  })

  test('a header of a proxy that is no list of addresses is logged once', async () => {
    const other = await anApi({ ...onPremise, TRUSTED_NETWORKS: '10.0.0.0/8', TRUST_PROXY: '127.0.0.1' })
    for (let i = 0; i < 3; i++) await other.call('GET', PATH, { headers: { 'x-forwarded-for': 'unknown' } })
    expect(other.log.filter(({ message }) => message.includes('X-Forwarded-For'))).toHaveLength(1)
  })

  test('behind a proxy that adds ports, the bad tokens of one client limit no other', async () => {
    const other = await anApi({ AUTH_ISSUERS: issuersOf([acme, 'acme']), TRUST_PROXY: '127.0.0.1' })
    const authorization = `Bearer ${acme.token({}, { expiresInS: -60 })}`
    const statusFor = async (forwardedFor: string) =>
      (await other.call('GET', PATH, { headers: { authorization, 'x-forwarded-for': forwardedFor } })).status
    const ofOne = await Promise.all(Array.from({ length: 120 }, (_, i) => statusFor(`203.0.113.9:${50_000 + i}`)))
    expect(new Set(ofOne)).toEqual(new Set([401, 429]))
    expect(await statusFor('203.0.113.9')).toBe(429)
    expect(await statusFor('203.0.113.10:50000')).toBe(401)
    expect(await statusFor('[fd00::7]:50000')).toBe(401)
  })

  test('are a setting with which the cloud refuses to start', async () => {
    await expect(anApi({ AUTH_ISSUERS: issuersOf([acme, 'acme']), TRUSTED_NETWORKS: '127.0.0.0/8' })).rejects.toThrow(
      'TRUSTED_NETWORKS is for DEPLOYMENT=on-premise only',
    )
  })
})
