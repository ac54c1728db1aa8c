import { randomBytes } from 'node:crypto'
import { loadConfig } from '@switchhook/runtime'
import { apiFields, apiRules, tenantsOf } from './config.ts'
import { urlRulesOf } from './webhooks/subscriptions/webhook-url.ts'

const SECRET_KEYS = `one:${randomBytes(32).toString('base64')}`
const ISSUER = { issuer: 'https://idp.example/acme', audience: 'switchhook', tenant: 'acme' }

const PRODUCTION = { NODE_ENV: 'production', SECRET_KEYS, PLATFORM: 'simulator' }

const load = (env: Record<string, string>) =>
  loadConfig(
    apiFields,
    { AMQP_URL: 'amqp://broker', REDIS_URL: 'redis://redis', AUTH_ISSUERS: JSON.stringify([ISSUER]), ...env },
    apiRules,
  )

test('an issuer is sufficient', () => {
  const config = load({})
  expect(config).toMatchObject({ API_PORT: 8080, DEPLOYMENT: 'cloud', TRUSTED_NETWORKS: [], TRUST_PROXY: [] })
  expect(config).toMatchObject({ AUTH_ISSUERS: [ISSUER], ALLOWED_HOSTS: [] })
  expect(config.TRUSTED_NETWORK_TENANT).toBeUndefined()
})

test('a previous webhook secret signs for a day by default', () => {
  expect(load({}).SIGNATURE_OVERLAP).toBe(86_400_000)
  expect(load({ SIGNATURE_OVERLAP: '0s' }).SIGNATURE_OVERLAP).toBe(0)
})

test('tenantsOf lists every configured tenant once', () => {
  expect(tenantsOf(load({}))).toEqual([null, 'acme'])
  const TRUSTED = { DEPLOYMENT: 'on-premise', TRUSTED_NETWORKS: '10.0.0.0/8' }
  expect(tenantsOf(load({ ...TRUSTED, TRUSTED_NETWORK_TENANT: 'globex' }))).toEqual([null, 'acme', 'globex'])
  expect(tenantsOf(load({ ...TRUSTED, TRUSTED_NETWORK_TENANT: 'acme' }))).toEqual([null, 'acme'])
})

test('on premise, trusted networks are sufficient', () => {
  const config = load({ AUTH_ISSUERS: '[]', DEPLOYMENT: 'on-premise', TRUSTED_NETWORKS: '10.0.0.0/8, fd00::/8' })
  expect(config.TRUSTED_NETWORKS).toEqual(['10.0.0.0/8', 'fd00::/8'])
})

test('an issuer can say which claim gives which role', () => {
  const issuer = { ...ISSUER, roles: { claim: 'roles', viewer: ['reader'], admin: ['owner', 'root'] } }
  expect(load({ AUTH_ISSUERS: JSON.stringify([issuer]) }).AUTH_ISSUERS).toEqual([issuer])
})

test.each<[string, Record<string, string>, string]>([
  [
    'roles without a claim',
    { AUTH_ISSUERS: JSON.stringify([{ ...ISSUER, roles: { admin: ['x'] } }]) },
    '/0/roles/claim',
  ],
  ['a claim that gives no role', { AUTH_ISSUERS: JSON.stringify([{ ...ISSUER, roles: { claim: 'x' } }]) }, '/0/roles'],
  [
    'an unknown role',
    { AUTH_ISSUERS: JSON.stringify([{ ...ISSUER, roles: { claim: 'x', root: ['y'] } }]) },
    '/0/roles/root',
  ],
  ['trusted networks in the cloud', { TRUSTED_NETWORKS: '10.0.0.0/8' }, 'TRUSTED_NETWORKS'],
  [
    'trusted networks in the cloud, in so many words',
    { DEPLOYMENT: 'cloud', TRUSTED_NETWORKS: '10.0.0.0/8' },
    'DEPLOYMENT=on-premise',
  ],
  [
    'every address as a trusted proxy',
    { DEPLOYMENT: 'on-premise', TRUSTED_NETWORKS: '10.0.0.0/8', TRUST_PROXY: '0.0.0.0/0' },
    'TRUST_PROXY',
  ],
  ['a tenant without a network', { TRUSTED_NETWORK_TENANT: 'acme' }, 'TRUSTED_NETWORK_TENANT'],
  ['allowed hosts without a network', { ALLOWED_HOSTS: 'switchhook.example' }, 'ALLOWED_HOSTS requires'],
  ['neither an issuer nor a trusted network', { AUTH_ISSUERS: '' }, 'AUTH_ISSUERS'],
  ['an issuer with two tenants', { AUTH_ISSUERS: JSON.stringify([ISSUER, { ...ISSUER, tenant: 'globex' }]) }, 'twice'],
  [
    'an issuer without an audience',
    { AUTH_ISSUERS: '[{"issuer":"https://idp.example","tenant":"acme"}]' },
    '/0/audience',
  ],
  ['an issuer that is not a url', { AUTH_ISSUERS: JSON.stringify([{ ...ISSUER, issuer: 'idp' }]) }, '/0/issuer'],
  ['an issuer with a space', { AUTH_ISSUERS: JSON.stringify([{ ...ISSUER, issuer: 'https://idp/a b' }]) }, '/0/issuer'],
  [
    'a misspelt member of an issuer',
    { AUTH_ISSUERS: JSON.stringify([{ ...ISSUER, jwksURI: 'https://x' }]) },
    'AUTH_ISSUERS',
  ],
  ['a limit without a window', { RATE_LIMIT: '600' }, 'RATE_LIMIT'],
  ['an audit log of no entries', { AUDIT_LOG_SIZE: '0' }, 'AUDIT_LOG_SIZE'],
  ['an audit log of no commands', { AUDIT_COMMANDS_SIZE: '0' }, 'AUDIT_COMMANDS_SIZE'],
  ['an audit log that is kept for ever', { AUDIT_RETENTION: 'forever' }, 'AUDIT_RETENTION'],
  ['invalid networks', { DEPLOYMENT: 'on-premise', TRUSTED_NETWORKS: '10.0.0.0/33' }, 'TRUSTED_NETWORKS'],
  ['production without a platform', { NODE_ENV: 'production', SECRET_KEYS }, 'PLATFORM is required in production'],
  ['production without a key for webhook secrets', { NODE_ENV: 'production' }, 'SECRET_KEYS is required'],
  [
    'production with an issuer over http',
    { ...PRODUCTION, AUTH_ISSUERS: JSON.stringify([{ ...ISSUER, issuer: 'http://127.0.0.1:9090/acme' }]) },
    'AUTH_ISSUERS: every address must start with https://',
  ],
  [
    'production with an issuer that is no address',
    { ...PRODUCTION, AUTH_ISSUERS: JSON.stringify([{ ...ISSUER, issuer: 'https://idp.example:99999' }]) },
    'AUTH_ISSUERS: every address must start with https:// and be valid',
  ],
  [
    'production with keys over http',
    { ...PRODUCTION, AUTH_ISSUERS: JSON.stringify([{ ...ISSUER, jwksUri: 'http://idp.example/keys' }]) },
    'AUTH_ISSUERS: every address must start with https://',
  ],
  [
    'production with an issuer over http on another machine',
    {
      ...PRODUCTION,
      AUTH_ISSUERS_OVER_HTTP: 'loopback',
      AUTH_ISSUERS: JSON.stringify([{ ...ISSUER, issuer: 'http://127.0.0.1.idp.example' }]),
    },
    'AUTH_ISSUERS: every address must start with https://',
  ],
  ['a key that is too short', { SECRET_KEYS: 'one:AAAA' }, 'SECRET_KEYS'],
  ['an overlap of more than a week', { SIGNATURE_OVERLAP: '8d' }, 'SIGNATURE_OVERLAP'],
])('%s prevents the start', (_name, env, said) => {
  expect(() => load(env)).toThrow(said)
})

test('production accepts an issuer over http on this machine if a setting says so', () => {
  const AUTH_ISSUERS = JSON.stringify([{ ...ISSUER, issuer: 'http://127.0.0.1:9090/acme' }])
  expect(load({ ...PRODUCTION, AUTH_ISSUERS, AUTH_ISSUERS_OVER_HTTP: 'loopback' }).AUTH_ISSUERS).toHaveLength(1)
  expect(load(PRODUCTION).AUTH_ISSUERS).toEqual([ISSUER])
})

test('the rate of recoveries is a positive integer', () => {
  expect(load({}).RECOVERY_RATE).toBe(50)
  expect(load({ RECOVERY_RATE: '5' }).RECOVERY_RATE).toBe(5)
  expect(() => load({ RECOVERY_RATE: '0' })).toThrow('RECOVERY_RATE')
})

test('the rate limit and the audit log have defaults', () => {
  expect(load({})).toMatchObject({
    RATE_LIMIT: { requests: 6_000, windowMs: 60_000 },
    AUDIT_LOG_SIZE: 10_000,
    AUDIT_COMMANDS_SIZE: 10_000,
    AUDIT_RETENTION: 90 * 86_400_000,
  })
  expect(load({ RATE_LIMIT: 'off', AUDIT_LOG_SIZE: '1', AUDIT_RETENTION: '400d' })).toMatchObject({
    RATE_LIMIT: null,
    AUDIT_LOG_SIZE: 1,
    AUDIT_RETENTION: 400 * 86_400_000,
  })
})

test.each<[Record<string, string>, boolean]>([
  [{}, false],
  [{ NODE_ENV: 'production', SECRET_KEYS, PLATFORM: 'simulator' }, true],
  [{ NODE_ENV: 'production', SECRET_KEYS, PLATFORM: 'simulator', WEBHOOK_REQUIRE_HTTPS: 'false' }, false],
  [{ WEBHOOK_REQUIRE_HTTPS: 'true' }, true],
])('with %j, https is required: %s', (env, requireHttps) => {
  expect(urlRulesOf(load(env))).toMatchObject({ requireHttps })
})

test('a receiver check takes at most 30 s by default', () => {
  expect(load({}).RECEIVER_CHECK_TIMEOUT).toBe(30_000)
  expect(load({ RECEIVER_CHECK_TIMEOUT: '2m' }).RECEIVER_CHECK_TIMEOUT).toBe(120_000)
  expect(() => load({ RECEIVER_CHECK_TIMEOUT: '10m' })).toThrow('RECEIVER_CHECK_TIMEOUT')
})
