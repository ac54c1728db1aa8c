import { type ChildProcess, spawn } from 'node:child_process'
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

// Runs as a separate process, because the provider's library is an ES module, which Jest cannot import.
const main = join(import.meta.dirname, 'main.ts')

let folder: string
let url: string
const running: ChildProcess[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dev-idp-'))
  ;({ url } = await start())
})

afterAll(async () => {
  await Promise.all(running.map(stop))
  rmSync(folder, { recursive: true })
})

async function start(env: Record<string, string> = {}): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(process.execPath, ['--conditions=source', main], {
    env: { ...process.env, NODE_ENV: 'test', DEV_IDP_PORT: '0', DEV_IDP_KEYS: join(folder, 'keys.json'), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.push(child)
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('{')) return { url: String((JSON.parse(line) as { url: unknown }).url), process: child }
  }
  throw new Error('the identity provider exited')
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  return child.exitCode
}

const FORM = {
  grant_type: 'client_credentials',
  client_id: 'acme-app',
  client_secret: 'acme-secret',
  scope: 'switchhook/.default',
}

async function requestToken(
  url: string,
  form: Record<string, string> = FORM,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${url}/oauth2/v2.0/token`, { method: 'POST', body: new URLSearchParams(form) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

async function publishedKeys(issuer: string): Promise<readonly JsonWebKey[]> {
  const discovery = (await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()) as Record<
    string,
    unknown
  >
  expect(discovery['issuer']).toBe(issuer)
  expect(discovery['token_endpoint']).toBe(`${issuer}/oauth2/v2.0/token`)
  const { keys } = (await (await fetch(String(discovery['jwks_uri']))).json()) as { keys: readonly JsonWebKey[] }
  return keys
}

const read = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>

/** The claims of a token if one of the keys has signed it. */
function claimsOf(token: string, keys: readonly JsonWebKey[]): Record<string, unknown> | undefined {
  const [head = '', claims = '', signature = ''] = token.split('.')
  const key = keys.find(({ kid }) => kid === read(head)['kid'])
  if (key === undefined || read(head)['alg'] !== 'RS256') return undefined
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    createPublicKey({ key, format: 'jwk' }),
    Buffer.from(signature, 'base64url'),
  )
  return isSigned ? read(claims) : undefined
}

test('a client gets a token for an hour, signed with RS256 by the published key of its tenant', async () => {
  const { status, body } = await requestToken(`${url}/acme`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3599 })

  const claims = claimsOf(String(body['access_token']), await publishedKeys(`${url}/acme`))
  expect(claims).toMatchObject({
    iss: `${url}/acme`,
    aud: 'switchhook',
    client_id: 'acme-app',
    scope: 'switchhook/.default',
  })
  expect(Number(claims?.['exp']) - Number(claims?.['iat'])).toBe(3599)
})

test('each tenant has its own keys and clients', async () => {
  const globex = { ...FORM, client_id: 'globex-app', client_secret: 'globex-secret' }
  const { body } = await requestToken(`${url}/globex`, globex)
  const token = String(body['access_token'])
  expect(claimsOf(token, await publishedKeys(`${url}/globex`))).toMatchObject({ iss: `${url}/globex` })
  expect(claimsOf(token, await publishedKeys(`${url}/acme`))).toBeUndefined()
  await expect(requestToken(`${url}/acme`, globex)).resolves.toMatchObject({ status: 401 })
})

test.each<[string, Record<string, string>, number, string]>([
  ['a wrong secret', { ...FORM, client_secret: 'guess' }, 401, 'invalid_client'],
  ['an unknown client', { ...FORM, client_id: 'nobody' }, 401, 'invalid_client'],
  ['an unknown scope', { ...FORM, scope: 'other/.default' }, 400, 'invalid_scope'],
  ['an additional scope', { ...FORM, scope: 'switchhook/.default openid' }, 400, 'invalid_scope'],
  ['no scope', { ...FORM, scope: '' }, 400, 'invalid_scope'],
  ['an unsupported grant type', { ...FORM, grant_type: 'password' }, 400, 'unsupported_grant_type'],
  ['no grant', { ...FORM, grant_type: '' }, 400, 'invalid_request'],
  ['a resource that is not ours', { ...FORM, resource: 'urn:other' }, 400, 'invalid_target'],
])('%s gets the matching OAuth error', async (_name, form, status, error) => {
  await expect(requestToken(`${url}/acme`, form)).resolves.toMatchObject({ status, body: { error } })
})

test('an unknown tenant is not found', async () => {
  await expect(requestToken(`${url}/initech`)).resolves.toMatchObject({
    status: 404,
    body: { error: 'unknown_tenant' },
  })
})

test('tokens stay valid after a restart', async () => {
  const first = await start()
  const { body } = await requestToken(`${first.url}/acme`)
  const { port } = new URL(first.url)
  await expect(stop(first.process)).resolves.toBe(0)

  const second = await start({ DEV_IDP_PORT: port })
  expect(claimsOf(String(body['access_token']), await publishedKeys(`${second.url}/acme`))).toBeDefined()
})

test('refuses to run in production', async () => {
  const child = spawn(process.execPath, ['--conditions=source', main], {
    env: { ...process.env, NODE_ENV: 'production', DEV_IDP_PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  expect(code).toBe(1)
  expect(said).toContain('NODE_ENV must not be production')
})
