import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'
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
    roles: ['admin'],
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

const REDIRECT_URI = 'http://127.0.0.1:8080/console/'
const VERIFIER = 'a-verifier-of-at-least-forty-three-characters-0123'

/** A browser without a screen: follows redirects by hand, and keeps cookies. */
function createBrowser() {
  const cookies = new Map<string, string>()
  return async (target: string, body?: URLSearchParams): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(target, {
      redirect: 'manual',
      headers: { cookie },
      ...(body && { method: 'POST', body }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return response
  }
}

const authorizationUrl = (more: Record<string, string> = {}): string =>
  `${url}/acme/auth?${new URLSearchParams({
    client_id: 'console',
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid switchhook/.default',
    state: 'a-state',
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  })}`

const locationOf = (response: Response): string => new URL(response.headers.get('location') ?? '', url).href

/** Signs a person in. Returns the address that the console is called back with. */
async function signIn(name: string, password = name): Promise<{ readonly status: number; readonly location: URL }> {
  const browse = createBrowser()
  const page = locationOf(await browse(authorizationUrl()))
  expect(await (await browse(page)).text()).toContain('acme-viewer')
  const submitted = await browse(page, new URLSearchParams({ name, password }))
  if (submitted.status !== 303) return { status: submitted.status, location: new URL(url) }
  const returned = await browse(locationOf(submitted))
  return { status: returned.status, location: new URL(locationOf(returned)) }
}

test.each(['viewer', 'operator', 'admin'])(
  'acme-%s signs in to the console and gets a token with the role',
  async (role) => {
    const { location } = await signIn(`acme-${role}`)
    expect(`${location.origin}${location.pathname}`).toBe(REDIRECT_URI)
    expect(location.searchParams.get('state')).toBe('a-state')
    const first = await requestToken(`${url}/acme`, {
      grant_type: 'authorization_code',
      client_id: 'console',
      code: String(location.searchParams.get('code')),
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    })
    expect(first.status).toBe(200)
    const claims = claimsOf(String(first.body['access_token']), await publishedKeys(`${url}/acme`))
    expect(claims).toMatchObject({ aud: 'switchhook', client_id: 'console', sub: `acme-${role}`, roles: [role] })

    const refreshed = await requestToken(`${url}/acme`, {
      grant_type: 'refresh_token',
      client_id: 'console',
      refresh_token: String(first.body['refresh_token']),
    })
    expect(claimsOf(String(refreshed.body['access_token']), await publishedKeys(`${url}/acme`))).toMatchObject({
      aud: 'switchhook',
      roles: [role],
    })
  },
)

test('a person signs out: the session ends, and the refresh token is revoked', async () => {
  const browse = createBrowser()
  const page = locationOf(await browse(authorizationUrl()))
  const submitted = await browse(page, new URLSearchParams({ name: 'acme-admin', password: 'acme-admin' }))
  const code = new URL(locationOf(await browse(locationOf(submitted)))).searchParams.get('code')
  const { body } = await requestToken(`${url}/acme`, {
    grant_type: 'authorization_code',
    client_id: 'console',
    code: String(code),
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
  })
  // Known to the provider: no page asks for a password.
  expect(new URL(locationOf(await browse(authorizationUrl()))).searchParams.has('code')).toBe(true)

  const discovery = (await (await fetch(`${url}/acme/.well-known/openid-configuration`)).json()) as Record<
    string,
    string
  >
  const refresh = { client_id: 'console', refresh_token: String(body['refresh_token']) }
  const revoked = await fetch(discovery['revocation_endpoint'] ?? '', {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'console', token: refresh.refresh_token }),
  })
  expect(revoked.status).toBe(200)
  await expect(requestToken(`${url}/acme`, { grant_type: 'refresh_token', ...refresh })).resolves.toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  })

  const form = await browse(
    `${discovery['end_session_endpoint']}?${new URLSearchParams({
      client_id: 'console',
      id_token_hint: String(body['id_token']),
      post_logout_redirect_uri: REDIRECT_URI,
    })}`,
  )
  const [, action = '', xsrf = ''] = /action="([^"]+)".* name="xsrf" value="([^"]+)"/.exec(await form.text()) ?? []
  const returned = await browse(action, new URLSearchParams({ xsrf, logout: 'yes' }))
  expect(locationOf(returned)).toBe(REDIRECT_URI)
  expect(locationOf(await browse(authorizationUrl()))).toContain('/sign-in/')
})

test.each([
  ['a wrong password', 'acme-admin', 'guess'],
  ['a person of another tenant', 'globex-admin', 'globex-admin'],
])('%s is refused', async (_name, name, password) => {
  expect(await signIn(name, password)).toMatchObject({ status: 401 })
})

test('a code goes only to the console on this machine', async () => {
  const response = await createBrowser()(authorizationUrl({ redirect_uri: 'https://console.example/console/' }))
  expect(response.status).toBe(400)
  expect(response.headers.get('location')).toBeNull()
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
