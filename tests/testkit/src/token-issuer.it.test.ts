import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { type Algorithm, startTokenIssuer, type TokenIssuer } from './token-issuer.ts'

let issuer: TokenIssuer

beforeEach(async () => {
  issuer = await startTokenIssuer()
})

afterEach(() => issuer.close())

async function publishedKeys(): Promise<readonly JsonWebKey[]> {
  const { keys } = (await (await fetch(issuer.jwksUri)).json()) as { keys: readonly JsonWebKey[] }
  return keys
}

const decode = (part = ''): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>

async function isSigned(token: string): Promise<boolean> {
  const [head = '', claims = '', signature = ''] = token.split('.')
  const key = (await publishedKeys()).find(({ kid }) => kid === decode(head)['kid'])
  if (key === undefined) return false
  const publicKey = { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' as const }
  return verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
}

test.each<Algorithm>(['RS256', 'ES256'])('a token is signed with %s by a published key', async (alg) => {
  const token = issuer.token({ scope: 'x', sub: undefined }, { alg })
  await expect(isSigned(token)).resolves.toBe(true)
  const [head, claims] = token.split('.')
  expect(decode(head)).toMatchObject({ alg })
  expect(decode(claims)).toMatchObject({ iss: issuer.issuer, aud: 'switchhook', scope: 'x' })
  expect(decode(claims)).not.toHaveProperty('sub')
})

test.each(['stranger', 'tampered', 'HS256', 'none'] as const)(
  'a token forged with %s does not verify',
  async (forgery) => {
    await expect(isSigned(issuer.token({}, { forgery }))).resolves.toBe(false)
  },
)

test('a rotation publishes only the new keys and signs tokens with them', async () => {
  const old = issuer.token()
  issuer.rotateKeys()
  await expect(isSigned(old)).resolves.toBe(false)
  await expect(isSigned(issuer.token())).resolves.toBe(true)
})

test('the key server can be stopped and restarted at the same address', async () => {
  await issuer.stop()
  await expect(fetch(issuer.jwksUri)).rejects.toThrow('fetch failed')
  await issuer.start()
  expect((await publishedKeys()).length).toBe(2)
  expect(issuer.jwksRequests()).toBe(1)
})
