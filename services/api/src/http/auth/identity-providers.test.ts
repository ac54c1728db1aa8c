import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileSchema } from '@switchhook/contracts'
import { requestWith, signedWith } from '../../testing/token-request.ts'
import { issuersSchema } from './issuer.ts'
import { createVerifyToken } from './verify-token.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
// Entra's keys have no `alg`.
const key = { ...(publicKey.export({ format: 'jwk' }) as { kty: string }), kid: 'k1', use: 'sig' }
const KEYS = { keys: [key], unreadable: 0 }

const PAGE = readFileSync(join(import.meta.dirname, '../../../../../docs/identity-providers.md'), 'utf8')

/** The entries that the page shows under this heading. */
function entriesOf(heading: string) {
  const section = PAGE.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  const blocks = [...section.matchAll(/```json\n(.*?)```/gs)].map(([, json]) => JSON.parse(json ?? ''))
  const read = compileSchema<{ issuer: string }[]>(issuersSchema)(blocks)
  if (!read.ok) throw new Error(`The page shows an invalid entry under ${heading}`)
  return read.value
}

const ENTRIES = ['Entra', 'Okta', 'Auth0', 'Keycloak', 'Cognito'].flatMap(entriesOf)

const verify = createVerifyToken(
  ENTRIES.map((entry) => ({
    ...(entry as Parameters<typeof createVerifyToken>[0][number]),
    keysFor: async () => KEYS,
    currentKeys: () => KEYS,
  })),
)

const verified = (header: object, claims: object) => {
  const nowS = Math.floor(Date.now() / 1_000)
  const times = { iat: nowS, exp: nowS + 3_600 }
  return verify(
    requestWith(`Bearer ${signedWith(privateKey, { alg: 'RS256', kid: 'k1', ...header }, { ...times, ...claims })}`),
  )
}

const DIRECTORY = '8f1c8d5e-7f61-4f0e-9c80-3c9f0c1a2b3d'
const ENTRA = { oid: 'oid-1', sub: 'oid-1', tid: DIRECTORY, idtyp: 'app', roles: ['Switchhook.Admin'], uti: 'u' }
const KEYCLOAK = { iss: 'https://sso.example.com/realms/acme', sub: 'user-1', azp: 'crm', jti: 'trrtcc:1', acr: '1' }
const COGNITO = {
  iss: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEfGhI',
  sub: '7abcdefghijk',
  version: 2,
  jti: 'j',
}
const OKTA = { ver: 1, jti: 'AT.x', iss: 'https://acme.okta.com/oauth2/default', sub: '0oa1' }

test.each<[string, object, object, object]>([
  [
    'Entra, version 2',
    { typ: 'JWT', x5t: 'x' },
    {
      ...ENTRA,
      aud: '1a6f5f0c-52a7-4c6b-8c39-0d8f2f0f5a11',
      iss: `https://login.microsoftonline.com/${DIRECTORY}/v2.0`,
      azp: 'crm',
      azpacr: '1',
      ver: '2.0',
    },
    { clientId: 'crm', subject: 'oid-1', role: 'admin' },
  ],
  [
    'Entra, version 1',
    { typ: 'JWT', x5t: 'x' },
    {
      ...ENTRA,
      aud: 'api://switchhook',
      iss: `https://sts.windows.net/${DIRECTORY}/`,
      appid: 'crm',
      appidacr: '1',
      ver: '1.0',
    },
    { clientId: 'crm', subject: 'oid-1', role: 'admin' },
  ],
  [
    'Okta',
    {},
    { ...OKTA, aud: 'api://switchhook', cid: '0oa1', scp: ['switchhook.read'] },
    { clientId: '0oa1', role: 'viewer' },
  ],
  [
    'Okta, for a person',
    {},
    {
      ...OKTA,
      aud: 'api://switchhook',
      sub: 'kim@acme.example',
      cid: '0oa2',
      uid: '00u1',
      scp: ['openid', 'switchhook.admin'],
    },
    { clientId: '0oa2', subject: 'kim@acme.example', role: 'admin' },
  ],
  [
    'Auth0',
    { typ: 'JWT' },
    {
      iss: 'https://acme.eu.auth0.com/',
      sub: 'crm@clients',
      aud: 'https://switchhook.example.com',
      azp: 'crm',
      gty: 'client-credentials',
      permissions: ['switchhook:admin'],
    },
    { clientId: 'crm', subject: 'crm@clients', role: 'admin' },
  ],
  [
    'Keycloak',
    { typ: 'JWT' },
    {
      ...KEYCLOAK,
      aud: ['switchhook', 'account'],
      typ: 'Bearer',
      scope: 'email profile',
      resource_access: { switchhook: { roles: ['read'] } },
      client_id: 'crm',
    },
    { clientId: 'crm', subject: 'user-1', role: 'viewer' },
  ],
  [
    'Cognito',
    {},
    { ...COGNITO, token_use: 'access', scope: 'switchhook/use switchhook/admin', client_id: '7abcdefghijk' },
    { clientId: '7abcdefghijk', role: 'admin' },
  ],
])('an access token of %s is accepted with the entry on the page', async (_name, header, claims, caller) => {
  const expected = { tenant: 'acme', issuer: expect.any(String), expiresAtMs: expect.any(Number), ...caller }
  expect((await verified(header, claims)).caller).toEqual(expected)
})

test.each<[string, object, object]>([
  ['an access token of Cognito without the scope', {}, { ...COGNITO, token_use: 'access', scope: 'other/use' }],
  ['an identity token of Cognito', {}, { ...COGNITO, token_use: 'id', scope: 'switchhook/use', aud: 'x' }],
  ['an identity token of Keycloak', { typ: 'JWT' }, { ...KEYCLOAK, aud: 'switchhook', typ: 'ID', nonce: 'n' }],
  ['an identity token of Okta', {}, { ...OKTA, aud: 'api://switchhook', nonce: 'n', at_hash: 'h' }],
])('%s is rejected', async (_name, header, claims) => {
  await expect(verified(header, claims)).rejects.toMatchObject({ code: 'unauthorized' })
})
