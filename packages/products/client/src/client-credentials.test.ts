import { clientCredentials } from './client-credentials.ts'
import { failure, json, page, type Scripted, type SentRequest, scripted } from './testing/scripted.ts'

const SECRET = 'acme-secret'

function open(script: readonly (Scripted | ((request: SentRequest) => Scripted))[]) {
  const { fetch, sent } = scripted(script)
  const options = { tokenUrl: 'https://login.example/token', clientId: 'acme-app', clientSecret: SECRET, scope: 's' }
  return { sent, auth: clientCredentials({ ...options, fetch }) }
}

const token = (value: string, seconds: number): Response =>
  json({ token_type: 'Bearer', access_token: value, expires_in: seconds })

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('concurrent calls share one request, and later calls its token', async () => {
  const { auth, sent } = open([token('a', 3_600)])
  expect(await Promise.all([auth(), auth()])).toEqual(['a', 'a'])
  expect(await auth()).toBe('a')
  expect(sent).toHaveLength(1)
  expect(String(sent[0]?.body)).toBe(`grant_type=client_credentials&client_id=acme-app&client_secret=${SECRET}&scope=s`)
})

test('a token is renewed one to two minutes before its end, while it still serves', async () => {
  const { auth, sent } = open([token('a', 3_600), token('b', 3_600)])
  await auth()
  jest.advanceTimersByTime((3_600 - 121) * 1_000)
  expect(await auth()).toBe('a')
  expect(sent).toHaveLength(1)
  jest.advanceTimersByTime(62 * 1_000)
  expect(await auth()).toBe('a')
  await jest.advanceTimersByTimeAsync(0)
  expect(await auth()).toBe('b')
  expect(sent).toHaveLength(2)
})

test('the old token serves while the provider fails, and the provider is asked every ten seconds', async () => {
  const { auth, sent } = open([token('a', 3_600), page('<h1>Bad gateway</h1>', 502)])
  await auth()
  jest.advanceTimersByTime((3_600 - 59) * 1_000)
  for (let second = 0; second < 21; second++) {
    expect(await auth()).toBe('a')
    await jest.advanceTimersByTimeAsync(1_000)
  }
  expect(sent).toHaveLength(4)
  jest.advanceTimersByTime(60_000)
  await expect(auth()).rejects.toMatchObject({ name: 'SignInFailed', status: 502 })
})

test.each<[string, Scripted, number, number]>([
  ['a 429 with Retry-After', json({}, 429, { 'retry-after': '1' }), 1_000, 1_000],
  ['a 503', json({}, 503), 250, 500],
  ['no answer', failure('ETIMEDOUT', 'connect ETIMEDOUT'), 250, 500],
])('concurrent calls share a failure and the wait after it: %s', async (_case, answer, leastMs, mostMs) => {
  const { auth, sent } = open([answer, answer, token('a', 3_600)])
  const refused = async (calls: number) => {
    const errors = await Promise.all(Array.from({ length: calls }, () => auth().catch((error: unknown) => error)))
    // Each caller adds the facts of its own call to its error.
    expect(new Set(errors).size).toBe(calls)
    return errors.map((error) => (error as { readonly retryAfterMs: number }).retryAfterMs)
  }
  const [waitMs = 0] = await refused(50)
  expect(waitMs).toBeGreaterThanOrEqual(leastMs)
  expect(waitMs).toBeLessThanOrEqual(mostMs)
  jest.advanceTimersByTime(100)
  for (const leftMs of await refused(50)) expect(leftMs).toBeCloseTo(waitMs - 100)
  expect(sent).toHaveLength(1)
  jest.advanceTimersByTime(waitMs - 100)
  const [againMs = 0] = await refused(50)
  expect(sent).toHaveLength(2)
  jest.advanceTimersByTime(againMs)
  expect(new Set(await Promise.all(Array.from({ length: 50 }, () => auth())))).toEqual(new Set(['a']))
  expect(sent).toHaveLength(3)
})

test('a rejected token is replaced, once for all who were rejected', async () => {
  const { auth, sent } = open([token('a', 3_600), token('b', 3_600)])
  await auth()
  expect(await Promise.all([auth('a'), auth('a')])).toEqual(['b', 'b'])
  expect(await auth('a')).toBe('b')
  expect(sent).toHaveLength(2)
})

test.each<[string, Scripted, number | undefined, string]>([
  [
    'HTML',
    page('<html>', 200),
    200,
    'https://login.example/token answered 200 (text/html) without a token. Check tokenUrl.',
  ],
  [
    'a token that is no text',
    json({ access_token: {}, error: {} }),
    200,
    'https://login.example/token answered 200 (application/json) without a token. Check tokenUrl.',
  ],
  [
    'a refusal',
    json({ error: 'invalid_client', error_description: 'The secret has expired' }, 401),
    401,
    'Sign-in was refused: invalid_client: The secret has expired. Check clientId, clientSecret and scope.',
  ],
  [
    'nothing',
    failure('ENOTFOUND', 'getaddrinfo ENOTFOUND login.example'),
    undefined,
    'https://login.example/token did not answer (getaddrinfo ENOTFOUND login.example). Check tokenUrl.',
  ],
])('a token endpoint that answers %s is one clear sentence with the remedy', async (_name, answer, status, message) => {
  const failed: unknown = await open([answer])
    .auth()
    .catch((error: unknown) => error)
  expect(failed).toMatchObject({ name: 'SignInFailed', message })
  expect((failed as { status?: number }).status).toBe(status)
  expect(String(failed)).not.toContain(SECRET)
})
