import { type Client, createClient } from './client.ts'
import { NoAnswer, SwitchhookError } from './errors.ts'
import type { ClientOptions, Retry } from './options.ts'
import { failure, json, page, problem, type Scripted, type SentRequest, scripted } from './testing/scripted.ts'

function open(
  script: readonly (Scripted | ((request: SentRequest) => Scripted))[],
  options: Partial<ClientOptions> = {},
) {
  const { fetch, sent } = scripted(script)
  const retries: Retry[] = []
  const client = createClient({
    baseUrl: 'https://switchhook.example',
    auth: async (rejected) => (rejected === undefined ? 'first' : 'second'),
    fetch,
    onRetry: (retry) => retries.push(retry),
    ...options,
  })
  return { client, sent, retries }
}

const ALICE = 'sip:alice@acme.example'
const DIAL = { agentUri: ALICE, destination: '+15550100' }
const keysOf = (sent: readonly SentRequest[]) => sent.map(({ headers }) => headers.get('idempotency-key'))

test('a request carries the token, the body, its parameters and a key', async () => {
  const { client, sent } = open([json({}, 202), json({ items: [] })])
  await client.agents.setPresence(ALICE, { statusCode: '66' })
  await client.deliveries.list({ state: 'parked', limit: 5 }).page()
  expect(sent).toMatchObject([
    {
      method: 'POST',
      url: 'https://switchhook.example/api/v1/voice/agents/sip%3Aalice%40acme.example/presence',
      body: { statusCode: '66' },
    },
    { method: 'GET', url: 'https://switchhook.example/api/v1/webhooks/deliveries?state=parked&limit=5' },
  ])
  // A followed redirect would turn the POST into a GET.
  expect(sent[0]?.redirect).toBe('manual')
  expect(sent[0]?.headers.get('authorization')).toBe('Bearer first')
  expect(sent[0]?.headers.get('content-type')).toBe('application/json')
  expect(keysOf(sent)).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), null])
})

test.each(['https://x.example/a', 'https://x.example/a/', 'https://x.example/a/api/v1', 'https://x.example/a/api/v1/'])(
  'the base URL may end like %s',
  async (baseUrl) => {
    const { client, sent } = open([json({})], { baseUrl })
    await client.me.read()
    expect(sent[0]?.url).toBe('https://x.example/a/api/v1/me')
  },
)

test.each(['switchhook.example', 'ftp://x.example', 'https://user:pass@x.example', ''])(
  'the base URL %j is refused immediately',
  (baseUrl) => {
    expect(() => open([], { baseUrl })).toThrow(new TypeError('baseUrl must look like https://switchhook.example.com'))
  },
)

test.each(['', '.', '..'])(
  'the id %j is refused before anything is sent: the path would be another operation’s',
  (id) => {
    const { client, sent } = open([])
    expect(() => client.subscriptions.delete(id)).toThrow(new TypeError('subscriptions.delete needs an id'))
    expect(sent).toEqual([])
  },
)

test.each([{ idempotencyKey: '注文-1' }, { ifMatch: '"ü\n"' }])(
  'a header that cannot be sent is no failure of the network: %j',
  async (options) => {
    const { client, sent } = open([])
    const failed = client.subscriptions.change('s', {}, options)
    await expect(failed).rejects.toThrow(TypeError)
    expect(sent).toEqual([])
  },
)

test('a `fetch` of the caller can add headers to those of the request', async () => {
  const { fetch, sent } = scripted([json({ callId: 'c' }, 202)])
  const client = createClient({
    baseUrl: 'http://x',
    auth: async () => 'token',
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...(init?.headers as Record<string, string>), 'x-trace': 't-1' } }),
  })
  await client.calls.dial(DIAL)
  const names = ['authorization', 'content-type', 'x-trace']
  expect(names.map((name) => sent[0]?.headers.get(name))).toEqual(['Bearer token', 'application/json', 't-1'])
})

test('a retry has the same key, and the retry is reported', async () => {
  const { client, sent, retries } = open([problem('rate-limited', 429), page('<h1>', 503), json({ callId: 'c' }, 202)])
  expect(await client.calls.dial(DIAL)).toEqual({ callId: 'c' })
  expect(new Set(keysOf(sent)).size).toBe(1)
  expect(retries).toMatchObject([
    { operation: 'calls.dial', tries: 1, waitMs: 0, error: { code: 'rate-limited' } },
    { operation: 'calls.dial', tries: 2, error: { status: 503, mayHaveRun: true } },
  ])
})

test('retries end, and the error has the key with which the request can be repeated', async () => {
  const { client, sent } = open([page('<h1>', 502)])
  const error = await client.calls.dial(DIAL, { idempotencyKey: 'dial-1' }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(NoAnswer)
  expect(error).toMatchObject({ mayHaveRun: true, idempotencyKey: 'dial-1', status: 502 })
  expect(keysOf(sent)).toEqual(['dial-1', 'dial-1', 'dial-1', 'dial-1'])
})

test('a wait beyond the limit of the call is not begun', async () => {
  const later = problem('rate-limited', 429)
  later.headers.set('retry-after', '60')
  const { client, sent } = open([later])
  await expect(client.calls.dial(DIAL)).rejects.toMatchObject({ code: 'rate-limited', status: 429 })
  expect(sent).toHaveLength(1)
})

test('a rejected token is replaced once', async () => {
  const { client, sent } = open([problem('unauthorized', 401)])
  await expect(client.me.read()).rejects.toMatchObject({ code: 'unauthorized' })
  expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer first', 'Bearer second'])
})

test('a token that is none is not sent, and not shown', async () => {
  const { client, sent } = open([], { auth: async () => 'two\nlines' })
  const failed = await client.me.read().catch((error: unknown) => error)
  expect([String(failed), sent]).toEqual(['TypeError: `auth` returned a malformed token', []])
})

test('a deletion whose first answer was lost has succeeded if the repeat finds nothing', async () => {
  const { client } = open([failure('ECONNRESET', 'read ECONNRESET'), problem('subscription-not-found', 404)])
  await expect(client.subscriptions.delete('s')).resolves.toBeUndefined()
  await expect(open([problem('subscription-not-found', 404)]).client.subscriptions.delete('s')).rejects.toMatchObject({
    code: 'subscription-not-found',
  })
})

test('a call ends at its limit', async () => {
  const { client } = open([], { fetch: (_url, init) => pending(init?.signal), timeoutMs: 20 })
  await expect(client.calls.dial(DIAL)).rejects.toMatchObject({
    name: 'NoAnswer',
    message: 'calls.dial did not answer within 0.02 s.',
    mayHaveRun: true,
    idempotencyKey: expect.any(String),
  })
})

test('a call that ends at its limit without a token was not sent', async () => {
  const { client, sent } = open([], { auth: () => new Promise(() => {}), timeoutMs: 20 })
  await expect(client.calls.dial(DIAL)).rejects.toMatchObject({
    name: 'NoAnswer',
    message: 'tokenUrl did not answer within 0.02 s.',
    mayHaveRun: false,
  })
  expect(sent).toEqual([])
})

test('an empty filter reaches the API, which refuses it: without the filter, the list would have everything', async () => {
  const { client, sent } = open([problem('invalid-request', 400)])
  await expect(client.subscriptions.list({ externalId: '' }).page()).rejects.toMatchObject({ code: 'invalid-request' })
  expect(sent[0]?.url).toMatch(/\/subscriptions\?externalId=$/)
})

test('a call ends with the reason of the caller’s signal', async () => {
  const { client } = open([], { fetch: (_url, init) => pending(init?.signal) })
  const closing = new AbortController()
  const call = client.me.read({ signal: closing.signal })
  closing.abort(new Error('closing'))
  await expect(call).rejects.toThrow('closing')
})

const pending = (signal: AbortSignal | null | undefined): Promise<Response> =>
  new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))

test('a list is read page by page, empty pages included', async () => {
  const { client, sent } = open([
    json({ items: [1, 2], nextCursor: 'b' }),
    json({ items: [], nextCursor: 'c' }),
    json({ items: [3], nextCursor: null }),
  ])
  const items: unknown[] = []
  for await (const item of client.events.list({ callId: 'x' })) items.push(item)
  expect(items).toEqual([1, 2, 3])
  expect(sent.map(({ url }) => new URL(url).search)).toEqual(['?callId=x', '?callId=x&cursor=b', '?callId=x&cursor=c'])
})

test('subscriptions are pages too: the client reads the header Next-Cursor', async () => {
  const { client } = open([json([{ id: '1' }], 200, { 'next-cursor': 'b' }), json([{ id: '2' }])])
  expect(await client.subscriptions.list({ limit: 1 }).page()).toEqual({ items: [{ id: '1' }], nextCursor: 'b' })
  expect(await client.subscriptions.list({ limit: 1, cursor: 'b' }).page()).toEqual({
    items: [{ id: '2' }],
    nextCursor: null,
  })
})

test('an error of the API has its code, its fields and one sentence for people', async () => {
  const faults = { detail: 'The body is not valid', errors: [{ pointer: '/url', detail: 'is required' }] }
  const { client } = open([problem('invalid-webhook-url', 400, { ...faults, knownEventTypes: ['call.status'] })])
  const error = await client.subscriptions.create({ url: '', eventTypes: [] }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(SwitchhookError)
  expect(error).toMatchObject({
    message: 'The body is not valid: /url is required',
    problem: { knownEventTypes: ['call.status'] },
    status: 400,
    requestId: 'r-1',
  })
})

const odd = [new Response(null, { status: 204 }), json(null), json('text'), json([null]), json({ items: null })]

test.each<[string, (client: Client) => Promise<unknown>, readonly Response[]]>([
  ['an object', (client) => client.me.read(), odd.slice(0, 3)],
  ['a page', (client) => client.agents.list().page(), [...odd, json({})]],
  ['an array', (client) => client.subscriptions.list().page(), [...odd.slice(0, 3), json({})]],
  ['nothing', (client) => client.subscriptions.delete('s'), [page('<html>', 200)]],
])('an answer that is not %s is another server’s', async (_kind, call, answers) => {
  for (const answer of answers) {
    const failed = call(open([answer]).client)
    await expect(failed).rejects.toMatchObject({
      name: 'NoAnswer',
      message: expect.stringContaining('unlike Switchhook'),
    })
  }
})

const ME = 'https://switchhook.example/api/v1/me'

test.each<[string, Scripted, string]>([
  [
    'another server',
    page('<title>Not found</title>', 404),
    `${ME} answered 404 (text/html), unlike Switchhook. Check baseUrl.`,
  ],
  [
    'the page of a web application',
    page('<html>', 200),
    `${ME} answered 200 (text/html), unlike Switchhook. Check baseUrl.`,
  ],
  [
    'a proxy without a backend',
    page('<h1>502 Bad Gateway</h1>', 502),
    `A proxy answered 502 (text/html) for ${ME}. Check Switchhook behind it.`,
  ],
  [
    'a redirect',
    new Response(null, { status: 301, headers: { location: 'https://other.example/' } }),
    `${ME} answered 301 (https://other.example/), unlike Switchhook. Check baseUrl.`,
  ],
  [
    'an unknown host',
    failure('ENOTFOUND', 'getaddrinfo ENOTFOUND switchhook.example'),
    `${ME} did not answer (getaddrinfo ENOTFOUND switchhook.example). Check baseUrl and the network.`,
  ],
  [
    'an older server',
    problem('not-found', 404, { title: 'No such resource' }),
    'No such resource; the server may be older than this client',
  ],
])('%s: one clear sentence with the remedy', async (_name, answer, message) => {
  const { client } = open([answer], { maxRetries: 0 })
  await expect(client.me.read()).rejects.toMatchObject({ message })
})
