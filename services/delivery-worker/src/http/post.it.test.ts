import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import type { Delivery, Outcome } from '@switchhook/contracts'
import { createAddressGuard, createLookup } from '@switchhook/egress'
import { answerWithin, type Deadline, startDeadline } from '@switchhook/runtime'
import { createSigner, newWebhookSecret, openVault, subscriptionSecret } from '@switchhook/signing'
import { aDelivery, eventually, type ReceivedRequest, type Receiver, startReceiver } from '@switchhook/testkit'
import { Webhook } from 'standardwebhooks'
import { aPostClient, type TestPostClient } from '../testing/post-client.ts'
import type { Broken } from './post-under-lease.ts'

const TIMEOUT_MS = 400
const guard = createAddressGuard(['127.0.0.0/8', '::1/128', '2001:db8::/32'])
const lookup = createLookup({ guard, timeoutMs: 100 })
/** Contains a trailing newline, a float that JSON.parse would shorten, an integer that it would round, and non-ASCII text. */
const BODY = Buffer.from('{"data": {"a": 1.0, "b": 12345678901234567890, "c": "Zoë ☎"}}\n')

let client: TestPostClient
let receiver: Receiver

// The first POST of a process loads and compiles the HTTP client, which can exceed the deadline on a busy machine.
beforeAll(async () => {
  const server = await startReceiver()
  const cold = aPostClient({ timeoutMs: 10_000, maxSockets: 1, guard, lookup })
  await cold.post(deliveryTo(server.url('/')), 1)
  await cold.close()
  await server.close()
})

beforeEach(async () => {
  client = aPostClient({ timeoutMs: TIMEOUT_MS, maxSockets: 10, guard, lookup })
  receiver = await startReceiver()
})

afterEach(async () => {
  await client.close()
  await receiver.close()
})

const deliveryTo = (url: string): Delivery => aDelivery({ url, body: BODY })

/** A TCP server without HTTP. */
async function startRawServer(onConnection: (socket: Socket) => void): Promise<{ url: string; server: Server }> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    // A socket that is not read does not notice that the other end closes.
    socket.resume()
    onConnection(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server }
}

test('the request is as specified, and the body arrives byte for byte', async () => {
  const delivery = deliveryTo(receiver.url('/hook?x=1'))
  await expect(client.post(delivery, 3)).resolves.toEqual({ kind: 'delivered', status: 204 })

  const [request] = receiver.requests()
  expect(request).toMatchObject({
    method: 'POST',
    path: '/hook?x=1',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(BODY.length),
      'x-svc-event': 'call.status',
      'x-svc-event-id': delivery.eventId,
      'x-svc-delivery': delivery.deliveryId,
      'x-svc-attempt': '3',
      'accept-encoding': 'identity',
    },
  })
  expect(request?.headers).not.toHaveProperty('x-svc-test')
  expect(request?.body.equals(BODY)).toBe(true)
  expect(request?.rawHeaders).toEqual(expect.arrayContaining(['X-SVC-Event', 'X-SVC-Delivery', 'X-SVC-Attempt']))
})

test('a delivery whose subscription has no secret is not signed', async () => {
  await client.post(deliveryTo(receiver.url('/hook')), 1)
  const [request] = receiver.requests()
  expect(Object.keys(request?.headers ?? {}).filter((name) => name.startsWith('webhook-'))).toEqual([])
})

describe('a delivery whose subscription has a secret', () => {
  const secrets = { current: newWebhookSecret(), former: newWebhookSecret() }
  const log = { error: () => {}, warn: () => {} }
  const vault = openVault({ SECRET_KEYS: undefined }, log)
  let nowMs: number
  let signing: TestPostClient

  beforeEach(() => {
    nowMs = Date.now()
    const signer = createSigner({ vault, log, now: () => nowMs })
    signing = aPostClient({ timeoutMs: TIMEOUT_MS, maxSockets: 10, guard, lookup, signer })
  })

  afterEach(() => signing.close())

  function signedDelivery(): Delivery {
    const delivery = deliveryTo(receiver.url('/hook'))
    const seal = (secret: string) => vault.seal(secret, subscriptionSecret(delivery.tenant, delivery.subscriptionId))
    const until = new Date(nowMs + 5_000).toISOString()
    const former = [{ secret: seal(secrets.former), until }]
    return { ...delivery, signing: { id: '1', secret: seal(secrets.current), since: until, former } }
  }

  function verify(secret: string, request: ReceivedRequest | undefined): unknown {
    if (request === undefined) throw new Error('no request arrived')
    return new Webhook(secret).verify(request.body, request.headers as Record<string, string>)
  }

  test('is verified by the Standard Webhooks library, with either secret while they overlap', async () => {
    const delivery = signedDelivery()
    await expect(signing.post(delivery, 1)).resolves.toEqual({ kind: 'delivered', status: 204 })
    const [request] = await receiver.waitFor(1)
    for (const secret of Object.values(secrets)) {
      expect(verify(secret, request)).toEqual(JSON.parse(BODY.toString()))
    }
    expect(request?.headers).toMatchObject({
      'webhook-id': delivery.deliveryId,
      'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
      'x-svc-delivery': delivery.deliveryId,
    })
    expect(request?.body.equals(BODY)).toBe(true)
  })

  test('is signed again for each attempt, and with the new secret alone after the overlap', async () => {
    const delivery = signedDelivery()
    await signing.post(delivery, 1)
    nowMs += 5_000
    await signing.post(delivery, 2)
    const [first, second] = await receiver.waitFor(2)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(Number(second?.headers['webhook-timestamp']) - Number(first?.headers['webhook-timestamp'])).toBe(5)
    expect(verify(secrets.current, second)).toEqual(JSON.parse(BODY.toString()))
    expect(() => verify(secrets.former, second)).toThrow('No matching signature')
  })
})

test.each<[number, Outcome['kind']]>([
  [200, 'delivered'],
  [202, 'delivered'],
  [301, 'answered'],
  [304, 'answered'],
  [400, 'answered'],
  [429, 'answered'],
  [503, 'answered'],
])('status %i is classified as %s', async (status, kind) => {
  receiver.answer('/', { status, headers: { location: receiver.url('/elsewhere') } })
  await expect(client.post(deliveryTo(receiver.url()), 1)).resolves.toMatchObject({ kind, status })
})

test('a redirect is never followed', async () => {
  receiver.answer('/', { status: 307, headers: { location: receiver.url('/elsewhere') } })
  await expect(client.post(deliveryTo(receiver.url()), 1)).resolves.toMatchObject({ kind: 'answered', status: 307 })
  await expect(client.post(deliveryTo(receiver.url('/after')), 1)).resolves.toMatchObject({ status: 204 })
  expect(receiver.requests('/elsewhere')).toEqual([])
})

test('a proxy in the environment is ignored', async () => {
  process.env['http_proxy'] = 'http://127.0.0.1:1'
  try {
    await expect(client.post(deliveryTo(receiver.url()), 1)).resolves.toMatchObject({ kind: 'delivered' })
  } finally {
    delete process.env['http_proxy']
  }
})

describe('the deadline', () => {
  const expectTimeout = async (url: string): Promise<void> => {
    const startedAt = performance.now()
    const outcome = answerWithin(2 * TIMEOUT_MS, client.post(deliveryTo(url), 1), 'late')
    await expect(outcome).resolves.toEqual({ kind: 'unreachable', reason: 'timeout' })
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(TIMEOUT_MS - 5)
  }

  test('ends an attempt without an answer', async () => {
    receiver.answer('/', { instead: 'hang' })
    await expectTimeout(receiver.url())
  })

  test('is not extended by a status line that trickles in', async () => {
    const { url, server } = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 O')
      const trickle = setInterval(() => socket.write('O'), 50)
      socket.on('close', () => clearInterval(trickle))
    })
    await expectTimeout(url)
    server.close()
  })

  test('is not extended by header lines that trickle in', async () => {
    const { url, server } = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const trickle = setInterval(() => socket.write('X-Slow: yes\r\n'), 50)
      socket.on('close', () => clearInterval(trickle))
    })
    await expectTimeout(url)
    server.close()
  })
})

describe('the answer', () => {
  test('without an end counts by its status line, and its connection is dropped', async () => {
    const flood = Buffer.alloc(1_024, 'x')
    let sentBytes = 0
    let dropped = false
    const { url, server } = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      const talk = setInterval(() => {
        sentBytes += flood.length
        socket.write(`400\r\n${flood.toString()}\r\n`)
      }, 1)
      socket.on('close', () => {
        clearInterval(talk)
        dropped = true
      })
    })
    await expect(client.post(deliveryTo(url), 1)).resolves.toEqual({ kind: 'delivered', status: 200 })
    await eventually(() => expect(dropped).toBe(true))
    expect(sentBytes).toBeLessThan(200 * flood.length)
    server.close()
  })

  test('that stalls in its body loses its connection long before the deadline', async () => {
    const patient = aPostClient({ timeoutMs: 60_000, maxSockets: 1, guard, lookup })
    let dropped = false
    const { url, server } = await startRawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
      socket.on('close', () => (dropped = true))
    })
    await expect(patient.post(deliveryTo(url), 1)).resolves.toEqual({ kind: 'delivered', status: 200 })
    await eventually(() => expect(dropped).toBe(true))
    await patient.close()
    server.close()
  })

  test('that is short leaves its connection to the next attempt', async () => {
    receiver.answer('/', { status: 200, body: 'thank you' })
    await client.post(deliveryTo(receiver.url()), 1)
    await eventually(async () => {
      await client.post(deliveryTo(receiver.url()), 1)
      const ports = receiver.requests().map(({ remotePort }) => remotePort)
      expect(ports.at(-1)).toBe(ports.at(-2))
    })
  })
})

test.each([
  [429, 'identity'],
  // Its body is not read.
  [503, 'br'],
])('the Retry-After of a %i is part of the outcome', async (status, encoding) => {
  const headers = { 'content-encoding': encoding, 'retry-after': '7' }
  receiver.answer('/', { status, headers, body: 'slow down' })
  expect(await client.post(deliveryTo(receiver.url()), 1)).toMatchObject({
    kind: 'answered',
    status,
    retryAfterMs: 7_000,
  })
})

test.each(['identity', 'identity \t', '\tIdentity '])(
  'the body of an answer with the encoding %j is kept',
  async (encoding) => {
    const { url, server } = await startRawServer((socket) => {
      socket.end(`HTTP/1.1 503 No\r\nContent-Encoding: ${encoding}\r\nContent-Length: 4\r\n\r\nbusy`)
    })
    expect(await client.post(deliveryTo(url), 1)).toEqual({ kind: 'answered', status: 503, answer: 'busy' })
    server.close()
  },
)

test.each(['Retry-After: 7', 'Date: Mon, 23 Nov 2026 12:00:00 GMT', 'Content-Encoding: gzip'])(
  'an answer with two headers %s ends the attempt',
  async (header) => {
    const { url, server } = await startRawServer((socket) => {
      socket.end(`HTTP/1.1 503 No\r\nRetry-After: 7\r\n${header}\r\n${header}\r\nContent-Length: 4\r\n\r\nbusy`)
    })
    expect(await client.post(deliveryTo(url), 1)).toMatchObject({ kind: 'answered', status: 503, retryAfterMs: 7_000 })
    server.close()
  },
)

test.each([
  [301, { location: 'https://new.example/hook' }, 'https://new.example/hook'],
  [302, { location: ' /login?next=%2F ' }, '/login?next=%2F'],
  [307, { location: '//new.example' }, '//new.example/'],
  [308, { location: 'https://zoe:hunter2@new.example/?token=abc' }, 'https://[redacted]@new.example/?token=[redacted]'],
])('an attempt says where a %i leads', async (status, headers, expected) => {
  receiver.answer('/', { status, headers })
  const { origin } = new URL(receiver.url())
  const target = expected.startsWith('//')
    ? `http:${expected}`
    : expected.startsWith('/')
      ? `${origin}${expected}`
      : expected
  const outcome = await client.post(deliveryTo(receiver.url()), 1)
  expect(outcome).toMatchObject({ kind: 'answered', status })
  expect(outcome.detail).toBe(
    `redirects are not followed: change the url of the subscription if the endpoint has moved to ${target}`,
  )
})

test.each([
  [300, {}],
  [301, {}],
  [304, { location: '/x' }],
  [302, { location: 'http://[' }],
])('a %i with the headers %j leads nowhere', async (status, headers) => {
  receiver.answer('/', { status, headers })
  await expect(client.post(deliveryTo(receiver.url()), 1)).resolves.not.toHaveProperty('detail')
})

describe('the excerpt of an error answer', () => {
  const post = (): Promise<Outcome> => client.post(deliveryTo(receiver.url()), 1)

  test.each([302, 400, 404, 500, 503])('is stored for a %i, as one line without secrets', async (status) => {
    receiver.answer('/', { status, body: 'down for\nmaintenance; ask zoe@client.example' })
    const answer = 'down for maintenance; ask [redacted]'
    await expect(post()).resolves.toEqual({ kind: 'answered', status, answer })
  })

  test('is not stored for a 2xx or for a body that is not text', async () => {
    receiver.answer('/', { status: 200, body: 'thank you' })
    await expect(post()).resolves.toEqual({ kind: 'delivered', status: 200 })
    receiver.answer('/', { status: 500, headers: { 'content-encoding': 'br' }, body: 'looks like text' })
    await expect(post()).resolves.toEqual({ kind: 'answered', status: 500 })
    const { url, server } = await startRawServer((socket) => {
      socket.end('HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\n\xff\xfe\0\x01', 'latin1')
    })
    await expect(client.post(deliveryTo(url), 1)).resolves.toEqual({ kind: 'answered', status: 500 })
    server.close()
  })

  test('has at most 256 bytes of a longer body; a short body leaves its connection to the next attempt', async () => {
    receiver.answer('/', { status: 503, body: 'no room. '.repeat(300) })
    const outcome = await post()
    expect(outcome).toMatchObject({ kind: 'answered', answer: expect.stringMatching(/^(no room\. )+/) as string })
    expect(Buffer.byteLength((outcome as { answer: string }).answer)).toBeLessThanOrEqual(256)
    await eventually(async () => {
      await post()
      const ports = receiver.requests().map(({ remotePort }) => remotePort)
      expect(ports.at(-1)).toBe(ports.at(-2))
    })
  })
})

describe('an unreachable endpoint has a reason', () => {
  test('connection refused', async () => {
    const { url, server } = await startRawServer(() => {})
    server.close()
    await once(server, 'close')
    await expect(client.post(deliveryTo(url), 1)).resolves.toMatchObject({ kind: 'unreachable', reason: 'refused' })
  })

  test('connection reset', async () => {
    receiver.answer('/', { instead: 'reset' })
    await expect(client.post(deliveryTo(receiver.url()), 1)).resolves.toEqual({ kind: 'unreachable', reason: 'reset' })
  })

  test('an answer that is not HTTP', async () => {
    const { url, server } = await startRawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    await expect(client.post(deliveryTo(url), 1)).resolves.toMatchObject({ kind: 'unreachable', reason: 'malformed' })
    server.close()
  })

  test('a switch of protocols instead of an answer', async () => {
    const { url, server } = await startRawServer((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    )
    await expect(client.post(deliveryTo(url), 1)).resolves.toMatchObject({ kind: 'unreachable', reason: 'malformed' })
    server.close()
  })

  test('an address that the machine cannot reach', async () => {
    const outcome = await client.post(deliveryTo('http://[2001:db8::1]/'), 1)
    expect(outcome).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringMatching(/^(network|timeout)$/) as string,
    })
  })

  test('no TLS on an https url', async () => {
    const url = receiver.url().replace('http:', 'https:')
    await expect(client.post(deliveryTo(url), 1)).resolves.toEqual({ kind: 'unreachable', reason: 'tls' })
  })

  test('a name that does not exist', async () => {
    await expect(client.post(deliveryTo('http://nobody.invalid/'), 1)).resolves.toEqual({
      kind: 'unreachable',
      reason: expect.stringMatching(/^(dns|timeout)$/) as string,
    })
  })

  test.each(['http://', 'ftp://client.example/', 'no url at all'])('the url %s cannot be used', async (url) => {
    await expect(client.post(deliveryTo(url), 1)).resolves.toEqual({ kind: 'unreachable', reason: 'unusable-url' })
  })
})

test('an attempt does not fail because the endpoint closes a connection on reuse', async () => {
  let served = 0
  const { url, server } = await startRawServer((socket) => {
    let onThisConnection = 0
    socket.on('data', () => {
      // The server closes the kept connection just as the second request arrives.
      onThisConnection += 1
      if (onThisConnection > 1) socket.resetAndDestroy()
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', () => (served += 1))
    })
  })
  for (let n = 0; n < 4; n++) {
    await expect(client.post(deliveryTo(url), 1)).resolves.toEqual({ kind: 'delivered', status: 200 })
  }
  expect(served).toBe(4)
  server.close()
})

test('an attempt does not fail, and none is acknowledged that was not sent, because the endpoint resets kept connections', async () => {
  const seen = new Set<string>()
  const { url, server } = await startRawServer((socket) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (;;) {
        const end = text.indexOf('\r\n\r\n') + 4
        const [, length = '0'] = /content-length: (\d+)/i.exec(text) ?? []
        if (end < 4 || text.length < end + Number(length)) return
        const [, id = ''] = /x-svc-delivery: (\S+)/i.exec(text) ?? []
        seen.add(id)
        text = text.slice(end + Number(length))
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        // Between two requests, and while the next one is about to be written.
        if (seen.size % 4 === 0) setTimeout(() => socket.resetAndDestroy(), (seen.size / 4) % 3)
      }
    })
  })
  const outcomes: Outcome[] = []
  const postAll = async (): Promise<void> => {
    for (let n = 0; n < 200; n++) outcomes.push(await client.post(deliveryTo(url), 1))
  }
  await Promise.all(Array.from({ length: 6 }, postAll))
  expect(outcomes.filter(({ kind }) => kind !== 'delivered')).toEqual([])
  expect(seen.size).toBe(outcomes.length)
  server.close()
})

describe('a request is not repeated', () => {
  const countRequests = async (
    answer: (socket: Socket, onConnection: number) => void,
  ): Promise<[string, () => number]> => {
    let requests = 0
    const { url, server } = await startRawServer((socket) => {
      let onConnection = 0
      socket.on('data', (chunk) => {
        if (!chunk.toString().startsWith('POST')) return
        requests += 1
        onConnection += 1
        answer(socket, onConnection)
      })
    })
    server.unref()
    return [url, () => requests]
  }

  test('when a new connection breaks', async () => {
    const [url, requests] = await countRequests((socket) => socket.resetAndDestroy())
    await expect(client.post(deliveryTo(url), 1)).resolves.toEqual({ kind: 'unreachable', reason: 'reset' })
    expect(requests()).toBe(1)
  })

  test.each([1, 2])('when the connection breaks within answer %i', async (last) => {
    const [url, requests] = await countRequests((socket, onConnection) => {
      if (onConnection < last) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      else socket.write('HTTP/1.1 20', () => setTimeout(() => socket.resetAndDestroy(), 20))
    })
    const single = aPostClient({ timeoutMs: TIMEOUT_MS, maxSockets: 1, guard, lookup })
    for (let n = 1; n < last; n++) await single.post(deliveryTo(url), 1)
    await expect(single.post(deliveryTo(url), 1)).resolves.toEqual({ kind: 'unreachable', reason: 'reset' })
    expect(requests()).toBe(last)
    await single.close()
  })
})

describe('under a lease', () => {
  const never = -Infinity
  const deadlines: Deadline[] = []
  const within = (ms: number): Deadline => {
    const deadline = startDeadline(ms)
    deadlines.push(deadline)
    return deadline
  }
  afterEach(() => {
    for (const deadline of deadlines.splice(0)) deadline.stop()
  })

  test('that is valid, the request is sent', async () => {
    const terms = { trustedUntilMs: performance.now() + 10_000, deadline: within(TIMEOUT_MS) }
    await expect(client.writeWithin(deliveryTo(receiver.url()), 1, terms)).resolves.toMatchObject({ status: 204 })
  })

  test('that has ended, no byte is written, and the connection is kept for the next POST', async () => {
    const received: string[] = []
    let connections = 0
    const { url, server } = await startRawServer((socket) => {
      connections += 1
      socket.on('data', (chunk) => {
        received.push(chunk.toString())
        socket.write('HTTP/1.1 204 No Content\r\n\r\n')
      })
    })
    const terms = { trustedUntilMs: never, deadline: within(TIMEOUT_MS) }
    for (let n = 0; n < 3; n++) {
      await expect(client.writeWithin(deliveryTo(url), 1, terms)).resolves.toEqual({ kind: 'lease-expired' })
    }
    expect(received).toEqual([])
    await expect(client.post(deliveryTo(url), 1)).resolves.toEqual({ kind: 'delivered', status: 204 })
    expect(received).toHaveLength(1)
    expect(connections).toBe(1)
    server.close()
  })

  test('that ends before the replay of a broken request, nothing is written, and the connection is kept', async () => {
    let requests = 0
    let connections = 0
    const { url, server } = await startRawServer((socket) => {
      connections += 1
      let onConnection = 0
      socket.on('data', () => {
        requests += 1
        onConnection += 1
        if (onConnection === 1) socket.write('HTTP/1.1 204 No Content\r\n\r\n')
        else socket.resetAndDestroy()
      })
    })
    const single = aPostClient({ timeoutMs: TIMEOUT_MS, maxSockets: 1, guard, lookup })
    await expect(single.post(deliveryTo(url), 1)).resolves.toEqual({ kind: 'delivered', status: 204 })
    const terms = { trustedUntilMs: performance.now() + 10_000, deadline: within(TIMEOUT_MS) }
    const replayOf: Broken = { kind: 'broken', outcome: { kind: 'unreachable', reason: 'reset' } }
    await expect(single.writeWithin(deliveryTo(url), 1, terms)).resolves.toEqual(replayOf)
    expect([connections, requests]).toEqual([1, 2])
    const ended = { trustedUntilMs: never, deadline: within(TIMEOUT_MS), replayOf }
    await expect(single.writeWithin(deliveryTo(url), 1, ended)).resolves.toEqual({ kind: 'lease-expired' })
    expect([connections, requests]).toEqual([2, 2])
    const renewed = { trustedUntilMs: performance.now() + 10_000, deadline: within(TIMEOUT_MS), replayOf }
    await expect(single.writeWithin(deliveryTo(url), 1, renewed)).resolves.toEqual({ kind: 'delivered', status: 204 })
    expect([connections, requests]).toEqual([2, 3])
    await single.close()
    server.close()
  })
})

test('nothing is sent to an address other than the vetted one', async () => {
  const onlyElsewhere = { allows: (address: string) => address !== '127.0.0.1', allowsHost: () => true }
  const wary = aPostClient({ timeoutMs: TIMEOUT_MS, maxSockets: 10, guard: onlyElsewhere, lookup })
  await expect(wary.post(deliveryTo(receiver.url()), 1)).resolves.toEqual({ kind: 'unreachable', reason: 'blocked' })
  expect(receiver.requests()).toEqual([])
  await wary.close()
})

test('connections to one endpoint are limited', async () => {
  const narrow = aPostClient({ timeoutMs: 5_000, maxSockets: 2, guard, lookup })
  receiver.answer('/', { status: 200, delayMs: 20 })
  await Promise.all(Array.from({ length: 10 }, () => narrow.post(deliveryTo(receiver.url()), 1)))
  expect(new Set(receiver.requests().map(({ remotePort }) => remotePort)).size).toBe(2)
  await narrow.close()
})

describe('an address that is blocked for webhooks', () => {
  const strict = createAddressGuard([])
  const blocked: Outcome = { kind: 'unreachable', reason: 'blocked' }
  let guarded: TestPostClient

  beforeEach(() => {
    const own = createLookup({ guard: strict, timeoutMs: 100 })
    guarded = aPostClient({ timeoutMs: TIMEOUT_MS, maxSockets: 10, guard: strict, lookup: own })
  })

  afterEach(() => guarded.close())

  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    'app.localhost.',
  ])('%s is not contacted', async (host) => {
    await expect(guarded.post(deliveryTo(`http://${host}:${receiver.port}/hook`), 1)).resolves.toEqual(blocked)
    expect(receiver.requests()).toEqual([])
  })

  test('is not contacted by a redirect either', async () => {
    receiver.answer('/hook', { status: 307, headers: { location: receiver.url('/inside') } })
    await expect(client.post(deliveryTo(receiver.url('/hook')), 1)).resolves.toMatchObject({
      kind: 'answered',
      status: 307,
    })
    expect(receiver.requests('/inside')).toEqual([])
  })

  test('is not contacted through a name that resolves to it', async () => {
    const resolving = async (): Promise<string[]> => ['127.0.0.1']
    const rebound = aPostClient({ timeoutMs: TIMEOUT_MS, maxSockets: 10, guard: strict, lookup: resolving })
    const url = deliveryTo(`http://client.example:${receiver.port}/hook`)
    await expect(rebound.post(url, 1)).resolves.toEqual(blocked)
    expect(receiver.requests()).toEqual([])
    await rebound.close()
  })

  test('is not contacted through a proxy of the environment', async () => {
    process.env['HTTP_PROXY'] = receiver.url('/')
    process.env['http_proxy'] = receiver.url('/')
    try {
      await expect(guarded.post(deliveryTo('http://10.255.255.1/hook'), 1)).resolves.toEqual(blocked)
      expect(receiver.requests()).toEqual([])
    } finally {
      delete process.env['HTTP_PROXY']
      delete process.env['http_proxy']
    }
  })
})
