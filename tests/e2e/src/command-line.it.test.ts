import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, eventually, type Receiver, startLateListener, startReceiver } from '@switchhook/testkit'
import { newUser, removeUsers } from './switchhook.ts'

afterAll(removeUsers)

/** Anything that can stand at the address of an installation. */
let server: Receiver

beforeEach(async () => {
  server = await startReceiver({ status: 404 })
})

afterEach(() => server.close())

const page = (status: number): Answer => ({
  status,
  headers: { 'content-type': 'text/html', 'retry-after': '0' },
  body: '<html>Welcome</html>',
})
const json = (body: object, status = 200, headers = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', 'retry-after': '0', ...headers },
  body: JSON.stringify(body),
})
const problem = (status: number, code: string, headers = {}): Answer =>
  json({ type: '', title: 'Refused', status, code, requestId: 'r-1' }, status, headers)
const ME = { tenant: 'acme', subject: 'app', clientId: 'app', roles: ['viewer'], features: { journal: false } }

const withToken = () => newUser({ SWITCHHOOK_URL: server.url('').replace(/\/$/, ''), SWITCHHOOK_TOKEN: 'a-token' })
const application = ['--client-id', 'app', '--secret-stdin', '--scope', 'api']
const login = (...args: string[]) => [
  'login',
  server.url(''),
  ...application,
  '--token-url',
  server.url('/token'),
  ...args,
]

test.each<[string, Answer, number, string]>([
  [
    'another website',
    page(200),
    6,
    'answered 200 (text/html), unlike Switchhook. Check the address of the installation',
  ],
  ['a server that answers nothing', { status: 204 }, 6, 'answered 204 (no content type), unlike Switchhook. Check the'],
  ['a server with other lists', json({ items: [{}] }), 6, "The answer is unlike Switchhook's (Cannot read"],
  ['a website without the page', page(404), 6, 'Check the address of the installation (switchhook profile)'],
  ["a proxy's 502 page", page(502), 6, 'A proxy answered 502 (text/html)'],
  ['an older server', problem(404, 'not-found'), 4, 'the server may be older than this command'],
  ['a refused token', problem(401, 'unauthorized'), 3, 'Sign in with "switchhook login"'],
  [
    'a refused token, and another clock',
    problem(401, 'unauthorized', { date: new Date(Date.now() - 600_000).toUTCString() }),
    3,
    "ahead of the server's: set it by NTP.",
  ],
  ['a missing role', problem(403, 'forbidden'), 3, 'Ask the operator of the installation for the role.'],
])('%s is explained in one line', async (_name, answer, code, message) => {
  server.answer('/api/v1/voice/agents', answer)
  const result = await withToken().run(['agents', 'list'])
  expect(result).toMatchObject({ code, stdout: '' })
  expect(result.stderr).toContain(message)
  expect(result.stderr.trim().split('\n')).toHaveLength(1)
})

test('of two addresses of the installation, the one that accepts a connection after a second gets it', async () => {
  const late = await startLateListener()
  const lookup = `import dns from 'node:dns'
    dns.lookup = (_name, _options, done) => {
      console.error('connecting')
      done(null, [{ address: '127.0.0.1', family: 4 }, { address: '::1', family: 6 }])
    }`
  const command = newUser({
    SWITCHHOOK_URL: `http://two.example:${late.port}`,
    SWITCHHOOK_TOKEN: 'a-token',
    NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(lookup).toString('base64')}`,
  }).start(['agents', 'list'])
  await eventually(() => expect(command.output().stderr).toContain('connecting'), { timeoutMs: 60_000 })
  // Later than Node.js waits for an address, and before the kernel repeats the SYN.
  await wait(500)
  late.accept()
  const { stderr } = await command.ended
  await late.close()
  // Connected by the first try.
  expect(stderr).toMatch(/^connecting\n.* answered 204 .*\n$/)
})

test('an address where nothing answers', async () => {
  await server.close()
  const { code, stderr } = await withToken().run(['agents', 'list'])
  expect([code, stderr]).toEqual([6, expect.stringContaining('ECONNREFUSED')])
})

test.each<[string, Answer, number, string]>([
  ['that answers with a page', page(200), 3, 'answered 200 (text/html) without a token. It is not a token endpoint'],
  ['that refuses the secret', json({ error: 'invalid_client' }, 401), 3, 'the secret has expired: create a secret'],
])('a token endpoint %s', async (_name, answer, code, message) => {
  server.answer('/token', answer)
  const user = newUser()
  const result = await user.run(login(), 'a-secret\n')
  expect([result.code, result.stderr]).toEqual([code, expect.stringContaining(message)])
  expect(readdirSync(user.config)).toEqual([])
})

test('a sign-in whose token does not work replaces no profile', async () => {
  server.answer('/token', json({ access_token: 'a-token', token_type: 'Bearer', expires_in: 3_600 }))
  server.answer('/api/v1/me', problem(401, 'unauthorized'))
  const user = newUser()
  expect((await user.run(login(), 'a-secret\n')).code).toBe(3)
  expect(readdirSync(user.config)).toEqual([])
})

test.each([['an empty name', ['--name', ''], '--name is empty']])(
  'listen refuses %s before it receives anything',
  async (_name, args, message) => {
    const { code, stderr } = await withToken().run(['listen', ...args])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(server.requests()).toEqual([])
  },
)

test('listen sends nothing but deliveries to the address', async () => {
  await withToken().run(['listen', '--forward-to', server.url('/hook')])
  expect(server.requests().map(({ path }) => path)).toEqual([expect.stringMatching('^/api/v1/')])
})

test('a server that is older than the sign-in', async () => {
  server.answer('/api/v1/sign-in', problem(404, 'not-found'))
  const { code, stderr } = await newUser().run(['login', server.url('')])
  expect([code, stderr]).toEqual([4, expect.stringContaining('is older than this command and offers no sign-in')])
})

test.each([
  ['no installation', ['agents', 'list'], '', 'switchhook login <url>'],
  ['a misspelt command', ['agents', 'lst'], '', 'Did you mean list?'],
  ['a missing argument', ['explain'], '', "missing required argument 'id'"],
  ['an unknown option', ['agents', 'list', '--all'], '', "unknown option '--all'"],
  [
    'no secret',
    ['login', 'http://127.0.0.1:9', ...application, '--token-url', 'http://127.0.0.1:9'],
    '',
    'no secret on stdin',
  ],
  [
    'a secret without its client',
    ['login', 'http://127.0.0.1:9', '--secret-stdin'],
    'x',
    'both --client-id and --secret-stdin',
  ],
  ['an address that is none', ['login', 'example'], '', 'The address must look like https://'],
])('%s is a mistake in the command', async (_name, args, input, message) => {
  const { code, stderr } = await newUser().run(args, input)
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})

test('a profile is for its user alone, its token serves further commands, and no output shows a secret', async () => {
  server.answer('/token', json({ access_token: 'a-token', token_type: 'Bearer', expires_in: 3_600 }))
  server.answer('/api/v1/me', json(ME))
  server.answer('/api/v1/voice/agents', json({ items: [], nextCursor: null }))
  const user = newUser()
  const results = [
    await user.run(login(), 'a-secret\n'),
    await user.run(['agents', 'list']),
    await user.run(['profile']),
  ]
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0])
  expect(JSON.stringify(results)).not.toMatch(/a-secret|a-token/)
  expect(server.requests('/token')).toHaveLength(1)
  expect(server.requests('/voice/agents').every(({ headers }) => headers['authorization'] === 'Bearer a-token')).toBe(
    true,
  )
  const path = join(user.config, 'switchhook/profiles.json')
  expect([statSync(path).mode & 0o777, statSync(join(user.config, 'switchhook')).mode & 0o777]).toEqual([0o600, 0o700])
  expect(readFileSync(path, 'utf8')).toContain('a-secret')

  expect((await user.run(['logout'])).code).toBe(0)
  expect(readFileSync(path, 'utf8')).not.toContain('a-secret')
})

test('commands that run side by side renew their token once, also after one that was killed while it did', async () => {
  server.answer('/token', [
    json({ access_token: 'old', token_type: 'Bearer', expires_in: 0 }),
    { ...json({ access_token: 'new', token_type: 'Bearer', expires_in: 3_600 }), delayMs: 400 },
  ])
  server.answer('/api/v1/me', json(ME))
  server.answer('/api/v1/voice/agents', json({ items: [], nextCursor: null }))
  const user = newUser()
  expect((await user.run(login(), 'a-secret')).code).toBe(0)
  const lock = join(user.config, 'switchhook/profiles.json.lock')
  writeFileSync(lock, '')
  utimesSync(lock, 0, 0)
  const commands = Array.from({ length: 3 }, () => user.run(['agents', 'list']))
  expect((await Promise.all(commands)).map(({ code }) => code)).toEqual([0, 0, 0])
  expect(server.requests('/token')).toHaveLength(2)
  expect(existsSync(lock)).toBe(false)
})

test.each([
  ['login', login, 'theirs'],
  ['logout', () => ['logout'], undefined],
])('a renewal does not undo a %s that another command makes meanwhile', async (_name, args, accessToken) => {
  const token = (name: string, seconds: number) =>
    json({ access_token: name, token_type: 'Bearer', expires_in: seconds })
  server.answer('/token', [token('old', 0), { ...token('new', 3_600), delayMs: 3_000 }, token('theirs', 3_600)])
  server.answer('/api/v1/me', json(ME))
  server.answer('/api/v1/voice/agents', json({ items: [], nextCursor: null }))
  const user = newUser()
  expect((await user.run(login(), 'a-secret')).code).toBe(0)
  const command = user.start(['agents', 'list'])
  await eventually(() => expect(server.requests('/token')).toHaveLength(2), { timeoutMs: 60_000 })
  expect((await user.run(args(), 'a-secret')).code).toBe(0)
  expect((await command.ended).code).toBe(0)
  const { profiles } = JSON.parse(readFileSync(join(user.config, 'switchhook/profiles.json'), 'utf8')) as {
    profiles: Record<string, { signIn?: { accessToken: string } }>
  }
  expect(profiles['default']?.signIn?.accessToken).toBe(accessToken)
})

test('Ctrl+C during a renewal leaves no lock to the next command', async () => {
  server.answer('/token', [json({ access_token: 'old', token_type: 'Bearer', expires_in: 0 }), { instead: 'hang' }])
  server.answer('/api/v1/me', json(ME))
  const user = newUser()
  expect((await user.run(login(), 'a-secret')).code).toBe(0)
  const command = user.start(['agents', 'list'])
  await eventually(() => expect(server.requests('/token')).toHaveLength(2), { timeoutMs: 60_000 })
  command.kill('SIGINT')
  expect((await command.ended).code).toBe(130)
  expect(existsSync(join(user.config, 'switchhook/profiles.json.lock'))).toBe(false)
})

test.each([
  ['a call id', '0193A5F2-7C1E-7000-8000-0000000000AA', 'callId=0193a5f2-7c1e-7000-8000-0000000000aa'],
  ['a number', ' 4711001', 'number=4711001'],
  ['an agent', 'sip:alice@acme.example', 'agentUri=sip%3Aalice%40acme.example'],
])('explain looks for a correlation id that looks like %s, too', async (_name, text, first) => {
  const webhooks = '/api/v1/webhooks'
  for (const kind of ['events', 'deliveries', 'subscriptions', 'recoveries']) {
    server.answer(`${webhooks}/${kind}/${text.toLowerCase()}`, problem(404, 'event-not-found'))
  }
  const lists = [first, `correlationId=${encodeURIComponent(text.trim())}`].map(
    (query) => `${webhooks}/events?${query}&limit=20`,
  )
  for (const list of lists) server.answer(list, json({ items: [], nextCursor: null }))
  const { code, stderr } = await withToken().run(['explain', text])
  expect([code, stderr]).toEqual([4, expect.stringContaining('Nothing was found')])
  expect(server.requests().flatMap(({ path }) => (path.includes('/events?') ? path : []))).toEqual(lists)
})

test('two that listen for the first time with one name share its deliveries', async () => {
  const subscription = {
    id: '0193a5f2-7c1e-7000-8000-0000000000bb',
    mode: 'pull',
    eventTypes: ['call.status', 'agent.status'],
    filter: null,
    enabled: true,
    paused: false,
    pausedUntil: null,
    health: { state: 'closed', failingSince: null },
  }
  const subscriptions = '/api/v1/webhooks/subscriptions'
  server.answer(`${subscriptions}?externalId=listen-mine`, [json([]), json([subscription])])
  server.answer(subscriptions, problem(409, 'external-id-taken'))
  server.answer(`${subscriptions}/${subscription.id}/receive`, { instead: 'hang' })
  const listening = withToken().start(['listen', '--name', 'mine', '--events', 'agent.status, call.status'])
  await eventually(() => expect(server.requests().at(-1)?.path).toMatch(/receive$/), { timeoutMs: 60_000 })
  listening.kill('SIGINT')
  expect((await listening.ended).code).toBe(130)
})

test('Ctrl+C ends the tail with 130', async () => {
  server.answer('/api/v1/webhooks/stream', { instead: 'hang' })
  const tail = withToken().start(['events', 'tail'])
  await eventually(() => expect(server.requests()).toHaveLength(1), { timeoutMs: 60_000 })
  tail.kill('SIGINT')
  expect((await tail.ended).code).toBe(130)
})

test('a result does not depend on a reader of the progress', async () => {
  server.answer('/api/v1/webhooks/subscriptions/s/check', json({ verdict: 'good', findings: [] }))
  const check = withToken().start(['check', 's', '--json'])
  check.closeStderr()
  expect(await check.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('good') })
})

test('bash completes commands and options', async () => {
  const { stdout } = await newUser().run(['completion', 'bash'])
  const complete = (...words: string[]): string =>
    execFileSync('bash', [
      '-c',
      `${stdout}\nCOMP_WORDS=(switchhook ${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length}\n_switchhook\necho "\${COMPREPLY[*]}"`,
    ])
      .toString()
      .trim()
  expect(complete('tri')).toBe('trigger')
  expect(complete('calls', 'h')).toBe('hold hangup')
  expect(complete('calls', 'transfer', 'an-id', '--bl')).toBe('--blind')
})

describe('doctor', () => {
  const examined = async (me: Answer, ...args: string[]) => {
    server.answer('/api/v1/me', me)
    const { date } = me.headers ?? {}
    server.answer(
      '/api/v1/webhooks/summary?limit=100',
      json({ items: [], nextCursor: null }, 200, date ? { date } : {}),
    )
    return withToken().run(['doctor', ...args])
  }

  test.each<[string, Answer, RegExp]>([
    ['a missing role', problem(403, 'forbidden'), /^role: Give this person or application a role/m],
    ['a refused token', problem(401, 'unauthorized'), /^sign-in: .*switchhook login/m],
    ['a wrong address', page(200), /^address: .*Check the address/m],
    [
      'a wrong clock',
      json(ME, 200, { date: new Date(Date.now() + 300_000).toUTCString() }),
      /^clock: .* behind the server's/m,
    ],
  ])('finds %s', async (_name, me, repair) => {
    const { code, stderr } = await examined(me)
    expect([code, stderr]).toEqual([1, expect.stringMatching(repair)])
  })

  test('finds a role that is too low, and nothing else', async () => {
    const { code, stdout, stderr } = await examined(json(ME), '--needs', 'operator')
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('role: Give this person or application the role operator'),
    ])
    expect(stdout.match(/\tfinding\t/g)).toHaveLength(1)
    expect((await examined(json(ME))).code).toBe(0)
  })

  test('finds an expired secret', async () => {
    server.answer('/token', [
      json({ access_token: 'a-token', token_type: 'Bearer', expires_in: 0 }),
      json({ error: 'invalid_client' }, 401),
    ])
    server.answer('/api/v1/me', json(ME))
    const user = newUser()
    expect((await user.run(login(), 'a-secret')).code).toBe(0)
    const { code, stderr } = await user.run(['doctor'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^sign-in: .*the secret has expired: create a secret/m)])
  })
})
