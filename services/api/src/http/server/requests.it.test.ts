import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Surroundings, startSurroundings } from '@switchhook/servicekit'
import { eventually } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'

const PATH = '/api/v1/webhooks/subscriptions'
const LIMIT = 64 * 1024
const DEADLINE_MS = 400

const NO_BODY = 'There is no body; send a JSON object, as application/json.'
const NOT_JSON = 'The body is not valid JSON.'
const NOT_UTF8 = 'The body is not valid UTF-8.'

let around: Surroundings<'acme'>
let api: ApiUnderTest
let authorization: string

const anApi = (lingerMs = 0): Promise<ApiUnderTest> =>
  startApiUnderTest(around.env, {
    deadlines: { headersMs: DEADLINE_MS, requestMs: DEADLINE_MS, restMs: DEADLINE_MS, lingerMs },
  })

beforeAll(async () => {
  around = await startSurroundings('acme')
  api = await anApi()
  authorization = around.bearer('acme').authorization
})

afterAll(async () => {
  await api.close()
  await around.close()
})

afterEach(async () => {
  expect((await api.call('GET', PATH, { headers: { authorization } })).status).toBe(200)
  expect(api.log.filter(({ level }) => level === 'error')).toEqual([])
})

const post = (body: string | Uint8Array, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  api.call('POST', PATH, { headers: { authorization, ...headers }, body })

const subscription = (description: string): string =>
  JSON.stringify({ url: 'https://client.example', eventTypes: ['call.status'], description })

describe('urls and methods', () => {
  test.each([
    '/',
    '/api/v1',
    '/api/v1/webhooks',
    `${PATH}/`,
    '/API/v1/webhooks/subscriptions',
    '/api/v2/webhooks/subscriptions',
    '/healthz',
    '/api/v1/%ff',
  ])('%s answers 404 with and without a token, and does not count against the rate limit', async (path) => {
    for (const headers of [{}, { authorization }] as Record<string, string>[]) {
      const answer = await api.call('GET', path, { headers })
      expect(answer).toMatchObject({ status: 404, body: { code: 'not-found' } })
      expect(answer.headers.has('ratelimit')).toBe(false)
    }
  })

  test.each<[string, string, string]>([
    ['PUT', PATH, 'POST, GET, HEAD'],
    ['DELETE', PATH, 'POST, GET, HEAD'],
    ['OPTIONS', PATH, 'POST, GET, HEAD'],
    ['POST', `${PATH}/x`, 'GET, HEAD, PATCH, DELETE'],
    ['GET', '/api/v1/voice/calls/dial', 'POST'],
  ])('%s %s answers 405 and lists the allowed methods', async (method, path, allowed) => {
    const { status, headers, body } = await api.call(method, path, { headers: { authorization } })
    expect(status).toBe(405)
    expect(body).toMatchObject({ code: 'method-not-allowed' })
    expect(headers.get('allow')).toBe(allowed)
    expect(headers.has('ratelimit')).toBe(false)
  })

  test('HEAD answers like GET, without a body', async () => {
    const response = await fetch(`${api.url}${PATH}`, { method: 'HEAD', headers: { authorization } })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
  })

  test.each(['%', '%ff', '%c3%28', '%zz'])('an id of %s answers 400', async (id) => {
    const { status, body } = await api.call('GET', `${PATH}/${id}`, { headers: { authorization } })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid-request' })
  })
})

describe('bodies', () => {
  test.each<[string, Record<string, string>]>([
    ['another type', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a type that only starts with application/json', { 'content-type': 'application/jsonp' }],
    ['another charset', { 'content-type': 'application/json; charset=iso-8859-1' }],
    ['compression', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('of %s answer 415', async (_name, headers) => {
    expect(await post(subscription('x'), headers)).toMatchObject({
      status: 415,
      body: { code: 'unsupported-media-type' },
    })
  })

  test.each(['application/json', 'text/plain', undefined])(
    'that are absent answer 400 with the type %s',
    async (type) => {
      const headers = { authorization, ...(type !== undefined && { 'content-type': type }) }
      expect(await api.call('POST', PATH, { headers })).toMatchObject({
        status: 400,
        body: { code: 'malformed-json', detail: NO_BODY },
      })
    },
  )

  test('without a type answer 415', async () => {
    const answer = await raw(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${authorization}\r\nContent-Length: 2\r\n\r\n{}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 415 /)
  })

  test.each(['application/json;charset=UTF-8', 'Application/JSON; charset="utf-8"', 'application/json; profile=x'])(
    'of type %s are accepted',
    async (type) => {
      expect((await post(subscription('x'), { 'content-type': type })).status).toBe(201)
    },
  )

  test('with a byte order mark are accepted', async () => {
    expect((await post(`\ufeff${subscription('x')}`)).status).toBe(201)
  })

  test.each<[string, string | Uint8Array, string]>([
    ['nothing', '', NO_BODY],
    ['blanks', '  ', NOT_JSON],
    ['a word', 'hello', NOT_JSON],
    ['truncated JSON', '{"url":"https://client.example"', NOT_JSON],
    ['two JSON values', '{}{}', NOT_JSON],
    ['a comment', '{/* x */}', NOT_JSON],
    ['invalid UTF-8', Buffer.from('{"url":"\xc3\x28"}', 'latin1'), NOT_UTF8],
    ['a surrogate in UTF-8', Buffer.from('{"url":"\xed\xa0\x80"}', 'latin1'), NOT_UTF8],
    ['UTF-16', Buffer.from('{"url":"x"}', 'utf16le'), NOT_JSON],
  ])('of %s answer 400 with a reason that does not quote them', async (_name, sent, detail) => {
    const { status, body } = await post(sent)
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'malformed-json', detail })
    expect(JSON.stringify(body)).not.toContain('hello')
  })

  test.each<[string, string]>([
    ['a list', '[]'],
    ['null', 'null'],
    ['a number too large', '1e999'],
    ['lists in lists', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['objects in objects', '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000)],
    ['a prototype', '{"__proto__":{"url":"https://client.example","eventTypes":["call.status"]}}'],
    ['a constructor', '{"constructor":{"prototype":{"url":"https://client.example"}}}'],
  ])('of %s are valid JSON and answer 400', async (_name, sent) => {
    expect(await post(sent)).toMatchObject({ status: 400, body: { code: expect.not.stringMatching('malformed-json') } })
  })

  test('that try to pollute a prototype do not', async () => {
    const sent = subscription('x').replace('{', '{"__proto__":{"polluted":true},')
    expect(await post(sent)).toMatchObject({ status: 400, body: { errors: [{ pointer: '/__proto__' }] } })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test.each(['test', 'check', 'rotate-secret'])('without chunks count as absent at …/%s', async (action) => {
    const created = await post(JSON.stringify({ url: 'https://client.example', eventTypes: ['call.status'] }))
    const { id } = created.body as { readonly id: string }
    // A disabled subscription is answered 409 after the body was read.
    await api.call('PATCH', `${PATH}/${id}`, { headers: { authorization }, json: { enabled: false } })
    const answer = await raw(
      `POST ${PATH}/${id}/${action} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    )
    expect(answer).toMatch(action === 'rotate-secret' ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 409 /)
  })

  test('without chunks answer 400 if a body is required', async () => {
    const answer = await raw(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*There is no body/)
  })

  test('of exactly 64 KiB are accepted, one byte more answers 413', async () => {
    const padded = (size: number): string => subscription('x').padEnd(size, ' ')
    expect((await post(padded(LIMIT))).status).toBe(201)
    expect(await post(padded(LIMIT + 1))).toMatchObject({ status: 413, body: { code: 'body-too-large' } })
  })

  test('of unknown length answer 413 as soon as they are too large, before they end', async () => {
    const socket = await open()
    const answer = read(socket)
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    const chunk = ' '.repeat(LIMIT)
    socket.write(`${LIMIT.toString(16)}\r\n${chunk}\r\n${LIMIT.toString(16)}\r\n${chunk}\r\n`)
    expect(await answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*"code":"body-too-large"/)
    socket.destroy()
  })

  test('with a too large Content-Length answer 413 before they are sent', async () => {
    const socket = await open()
    const answer = read(socket)
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: 10000000\r\n\r\n{`,
    )
    expect(await answer).toMatch(/^HTTP\/1\.1 413 /)
    socket.destroy()
  })

  test('of an unauthenticated caller are not awaited', async () => {
    const socket = await open()
    const answer = read(socket)
    socket.write(`POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`)
    expect(await answer).toMatch(/^HTTP\/1\.1 401 /)
    socket.destroy()
  })
})

describe('compression', () => {
  const DOCUMENT = '/api/v1/openapi.json'
  const ask = async (path: string, encodings: string, options: RequestInit = {}) => {
    const headers = { authorization, 'content-type': 'application/json', 'accept-encoding': encodings }
    const response = await fetch(`${api.url}${path}`, { ...options, headers })
    const [encoding, vary] = ['content-encoding', 'vary'].map((name) => response.headers.get(name))
    return { encoding, vary, bytes: Number(response.headers.get('content-length')), text: await response.text() }
  }

  test.each(['gzip', 'gzip, deflate, br', 'br;q=1, gzip;q=0.5', '*'])(
    'an answer to %s is compressed',
    async (encodings) => {
      const plain = await ask(DOCUMENT, 'identity')
      const compressed = await ask(DOCUMENT, encodings)
      expect(compressed).toMatchObject({ encoding: 'gzip', vary: 'Accept-Encoding', text: plain.text })
      expect(compressed.bytes).toBeLessThan(plain.bytes / 5)
    },
  )

  test.each(['identity', 'br', 'gzip;q=0', ''])('an answer to %j is not', async (encodings) => {
    const { encoding, vary, bytes, text } = await ask(DOCUMENT, encodings)
    expect({ encoding, vary, bytes }).toEqual({
      encoding: null,
      vary: 'Accept-Encoding',
      bytes: Buffer.byteLength(text),
    })
  })

  test('HEAD answers with the same headers', async () => {
    const { encoding, vary } = await ask(DOCUMENT, 'gzip')
    expect(await ask(DOCUMENT, 'gzip', { method: 'HEAD' })).toMatchObject({ encoding, vary, text: '' })
  })

  test('a large problem is compressed; an answer of up to 1 KB is not', async () => {
    const eventTypes = Array.from({ length: 100 }, () => 'a')
    const large = await ask(PATH, 'gzip', { method: 'POST', body: JSON.stringify({ eventTypes }) })
    expect(large).toMatchObject({ encoding: 'gzip', text: expect.stringContaining('/eventTypes/8') })
    const small = await ask('/api/v1/me', 'gzip')
    expect(small).toMatchObject({ encoding: null, vary: null, bytes: small.text.length })
  })

  test('the live stream is not compressed, so that events arrive immediately', async () => {
    const aborter = new AbortController()
    const headers = { authorization, 'accept-encoding': 'gzip' }
    const response = await fetch(`${api.url}/api/v1/webhooks/stream`, { headers, signal: aborter.signal })
    expect([response.status, response.headers.get('content-encoding')]).toEqual([200, null])
    aborter.abort()
  })
})

describe('malformed or slow HTTP', () => {
  test.each<[string, string, number]>([
    ['garbage', 'hello\r\n\r\n', 400],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 400],
    ['no Host', `GET ${PATH} HTTP/1.1\r\nAuthorization: AUTH\r\n\r\n`, 400],
    ['a target that is no url', 'GET http://[/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
    ['a target with no such port', 'GET http://x:65536/console/config.json HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['a header of 100 KB', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
    ['a token of 100 KB', `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'a'.repeat(100_000)}\r\n\r\n`, 431],
    ['an unknown expectation', `GET ${PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: wonders\r\n\r\n`, 417],
    ['a header that never ends', 'GET / HTTP/1.1\r\nHost: x\r\n', 408],
    [
      'a body that never ends',
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: AUTH\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      408,
    ],
  ])('%s is answered, and the connection is closed', async (_name, sent, status) => {
    const answer = await raw(sent.replace('AUTH', authorization))
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(/content-type: application\/problem\+json/i)
    const type = '/api/v1/docs/problems#invalid-request'
    expect(JSON.parse(body)).toMatchObject({ type, status, code: 'invalid-request', requestId: expect.any(String) })
  })

  test('CONNECT answers 405, and the connection is closed, even if the client keeps its side open', async () => {
    const socket = connect({ port: api.port, host: '127.0.0.1', allowHalfOpen: true })
    const answer = read(socket)
    socket.write('CONNECT client.example:443 HTTP/1.1\r\nHost: client.example:443\r\n\r\n')
    const [head = '', body = ''] = (await answer).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 405 [\s\S]*Allow: GET, HEAD, POST, PATCH, DELETE/)
    expect(head).toMatch(/content-type: application\/problem\+json/i)
    expect(JSON.parse(body)).toMatchObject({ status: 405, code: 'method-not-allowed', requestId: expect.any(String) })
    const errors: Error[] = []
    socket.on('error', (error) => errors.push(error))
    await eventually(() => {
      socket.write('x')
      expect(errors).not.toEqual([])
    })
  })

  test('a client that disconnects in the middle of its body does no harm', async () => {
    const socket = await open()
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nX-Request-Id: hung-up\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    )
    socket.resetAndDestroy()
    await eventually(() =>
      expect(api.log.some(({ fields }) => fields['requestId'] === 'hung-up' && fields['aborted'])).toBe(true),
    )
  })
})

describe('every response', () => {
  test.each(['a', 'req-1.2:3_4', 'x'.repeat(128)])('keeps the request id %s', async (id) => {
    const { headers } = await api.call('GET', PATH, { headers: { authorization, 'x-request-id': id } })
    expect(headers.get('x-request-id')).toBe(id)
  })

  test.each(['', 'a b', '<script>', 'x'.repeat(129), 'ä'])('replaces the request id %j', async (id) => {
    const { headers } = await api.call('GET', PATH, { headers: { authorization, 'x-request-id': id } })
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('has safe headers and does not name the server software', async () => {
    const { headers } = await api.call('GET', PATH, { headers: { authorization } })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.has('ratelimit')).toBe(true)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    for (const name of ['x-powered-by', 'server', 'etag', 'access-control-allow-origin'])
      expect(headers.get(name)).toBeNull()
  })

  test('writes one log line with the path pattern of its route and without its query', async () => {
    const headers = { authorization, 'x-request-id': 'one-line' }
    await api.call('GET', `${PATH}/4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11?token=in-the-query`, { headers })
    const lines = await eventually(() => {
      const found = api.log.filter(({ fields }) => fields['requestId'] === 'one-line')
      expect(found).toHaveLength(1)
      return found
    })
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'request',
        fields: {
          requestId: 'one-line',
          method: 'GET',
          route: `${PATH}/{id}`,
          status: 404,
          durationMs: expect.any(Number),
          traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
          tenant: 'acme',
          clientId: 'test-client',
        },
      },
    ])
    expect(JSON.stringify(api.log)).not.toContain('in-the-query')
  })
})

test('shutdown finishes requests in flight and accepts no more', async () => {
  const other = await anApi()
  const socket = await open(other.port)
  const body = subscription('late')
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  expect(await read(socket)).toMatch(/^HTTP\/1\.1 100 /)
  const idle = await open(other.port)
  const idleClosed = once(idle, 'close')
  const closed = other.close()
  await idleClosed
  await expect(open(other.port)).rejects.toThrow('ECONNREFUSED')
  const answer = read(socket)
  socket.write(body)
  expect(await answer).toMatch(/^HTTP\/1\.1 201 [\s\S]*connection: close/i)
  await closed
})

test('a request on a kept-alive connection is answered while the server shuts down, and then the connection ends', async () => {
  const other = await anApi(2_000)
  const get = `GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`
  const kept = await open(other.port)
  kept.write(get)
  expect(await read(kept)).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: keep-alive/i)
  const closed = other.close()
  const ended = once(kept, 'end')
  let answer = ''
  // The parts of the api that close before its server still let connections live.
  while (!/connection: close/i.test(answer)) {
    kept.write(get)
    answer = await read(kept)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  }
  await ended
  await closed
})

test('a client that never finishes its request does not delay the shutdown', async () => {
  const other = await anApi()
  const socket = await open(other.port)
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n`,
  )
  await read(socket)
  await other.close()
  expect(socket.readyState).not.toBe('open')
})

async function open(port = api.port): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  socket.on('error', () => {})
  return socket
}

/** Resolves to the first chunk. */
async function read(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  return chunk.toString()
}

/** Sends, and reads until the server closes the connection. */
async function raw(sent: string): Promise<string> {
  const socket = await open()
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.write(sent)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}
