import { applicationScope, chosenIn } from './openid.ts'
import { signInProblem } from './sign-in-problem.ts'

const acme = { issuer: 'https://acme/idp', clientId: 'cli', scope: 'openid api' }
const globex = { ...acme, issuer: 'https://globex/idp' }
const named = [
  { ...acme, name: 'acme' },
  { ...globex, name: 'globex' },
]

test.each([
  ['the only one', { issuers: [acme], asksOrganization: false }, undefined, acme],
  ['the only one, whatever the name', { issuers: [acme], asksOrganization: false }, 'x', acme],
  ['the one of the organization', { issuers: named, asksOrganization: false }, ' GLOBEX', globex],
  ['the one that was asked for', { issuers: [named[1] ?? acme], asksOrganization: true }, 'globex', globex],
])('signs in with %s', (_name, offer, organization, expected) => {
  expect(chosenIn(offer, organization)).toEqual(expected)
})

test.each([
  ['several, which are listed', { issuers: named, asksOrganization: false }, 2, '--organization <name> (acme, globex)'],
  ['several, which are not listed', { issuers: [], asksOrganization: true }, 2, '--organization <name>.'],
  ['none', { issuers: [], asksOrganization: false }, 3, 'use --client-id, --token-url and --scope'],
])('asks, if there are %s', (_name, offer, exit, message) => {
  expect(() => chosenIn(offer, undefined)).toThrow(
    expect.objectContaining({ exit, message: expect.stringContaining(message) }),
  )
})

test('an application does not ask for what only people have', () => {
  expect(applicationScope('openid offline_access api://x/.default')).toBe('api://x/.default')
})

const html = new Response('<html>', { status: 200, headers: { 'content-type': 'text/html' } })

test.each<[string, object, string]>([
  ['an expired secret', { error: 'invalid_client', status: 401 }, 'the secret has expired: create a secret'],
  ['a lapsed sign-in', { error: 'invalid_grant', error_description: 'gone' }, 'invalid_grant (gone). The sign-in has'],
  ['another refusal', { error: 'server_error' }, 'server_error. Check the client'],
  ['a page', { code: 'OAUTH_RESPONSE_IS_NOT_JSON', cause: html }, 'answered 200 (text/html) without a token'],
  ['a wrong clock', { code: 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED' }, 'The clock of this machine is wrong'],
  ['http', { code: 'OAUTH_HTTP_REQUEST_FORBIDDEN' }, 'is not https'],
  ['no device codes', { code: 'OAUTH_MISSING_SERVER_METADATA' }, 'does not offer this sign-in'],
  [
    'no answer',
    Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }),
    'did not answer (ECONNREFUSED)',
  ],
  [
    'JSON without a token',
    { message: 'invalid', cause: new Error('no "access_token"') },
    'failed: no "access_token" (',
  ],
  ['anything else', { message: 'strange' }, 'The sign-in failed: strange (https://idp/token).'],
])('%s is explained', (_name, error, message) => {
  expect(signInProblem(error, 'https://idp/token').message).toContain(message)
})
