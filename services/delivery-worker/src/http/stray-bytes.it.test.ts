import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Outcome } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { aDelivery, eventually } from '@switchhook/testkit'
import { aPostClient, type TestPostClient } from '../testing/post-client.ts'

const guard = createAddressGuard(['127.0.0.0/8'])
const EMPTY = 'HTTP/1.1 204 No Content\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const REJECTED = 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'

let client: TestPostClient
let server: Server
let connections: number

beforeEach(() => {
  connections = 0
  client = aPostClient({ timeoutMs: 2_000, maxSockets: 1, guard, lookup: async () => [] })
})

afterEach(async () => {
  await client.close()
  server.close()
})

/** Reads whole requests, as a correct server does. */
const wholeRequests = (text: string): readonly [requests: number, rest: string] => {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const body = rest.join('\r\n\r\n')
  if (rest.length === 0 || Buffer.byteLength(body) < length) return [0, text]
  const [more, left] = wholeRequests(Buffer.from(body).subarray(length).toString())
  return [more + 1, left]
}

async function endpoint(onData: (socket: Socket, text: string) => string): Promise<string> {
  server = createServer((socket) => {
    connections += 1
    let text = ''
    socket.setNoDelay()
    socket.on('error', () => {})
    socket.on('data', (chunk) => (text = onData(socket, text + chunk.toString())))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** An endpoint that answers each request with these writes, each in a packet of its own, so many ms after the one before. */
const answering = (writes: readonly string[], betweenMs: number): Promise<string> =>
  endpoint((socket, text) => {
    const [requests, rest] = wholeRequests(text)
    for (let n = 0; n < requests; n += 1) {
      writes.forEach((bytes, at) => {
        if (at === 0) socket.write(bytes)
        else setTimeout(() => socket.destroyed || socket.write(bytes), at * betweenMs)
      })
    }
    return rest
  })

const post = (url: string): Promise<Outcome> => client.post(aDelivery({ url }), 1)

describe.each([
  ['in the same packet', (writes: string[]) => answering([writes.join('')], 0)],
  ['at once', (writes: string[]) => answering(writes, 0)],
  ['after a millisecond', (writes: string[]) => answering(writes, 1)],
])('stray bytes %s', (_when, start) => {
  test.each([
    ['a body after a 204', [EMPTY, 'stray']],
    ['a body that looks like an answer', [EMPTY, '{"status":"HTTP/1.1 404 Not Found"}\r\n\r\n']],
    ['more body than its length', [OK, 'stray']],
    ['bytes that are no text', [OK, '\0\x16\x03\x01']],
  ])('of %s are no answer to the next delivery', async (_name, writes) => {
    const url = await start(writes)
    for (let n = 0; n < 40; n += 1) await expect(post(url)).resolves.toMatchObject({ kind: 'delivered' })
  })
})

test('a second answer rejects at most one delivery, and then no connection is kept', async () => {
  const url = await answering([OK, REJECTED], 1)
  const kinds: string[] = []
  for (let n = 0; n < 60; n += 1) kinds.push((await post(url)).kind)
  expect(kinds.filter((kind) => kind !== 'delivered').length).toBeLessThanOrEqual(1)
  expect(kinds.slice(20)).not.toContain('answered')
})

/** What servers answer to a line that is no request, before they close: the body of the request before, and the next request. */
describe.each([
  [
    '501',
    "HTTP/1.1 501 Unsupported method ('{')\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n<h1>Error</h1>",
  ],
  ['400', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'],
  ['400 without a version', '<h1>Bad request syntax</h1>'],
])('a receiver that does not read the body, and answers it with %s', (_status, refusal) => {
  const unread = (): Promise<string> =>
    endpoint((socket, text) => {
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return text
      if (text.startsWith('POST ')) socket.write(OK)
      else socket.end(refusal)
      return text.slice(end + 4)
    })

  test('gets every delivery, and says so in the attempt', async () => {
    const url = await unread()
    const outcomes: Outcome[] = []
    for (let n = 0; n < 50; n += 1) outcomes.push(await post(url))
    expect(outcomes.filter(({ kind }) => kind !== 'delivered')).toEqual([])
    const repeated = outcomes.filter(({ detail }) => detail !== undefined)
    expect(repeated).toHaveLength(1)
    expect(repeated[0]?.detail).toContain('repeated on a new connection')
    expect(client.sendsStrays(url)).toBe(true)
    client.forgetStrays(url)
    expect(client.sendsStrays(url)).toBe(false)
  })
})

test('a real answer with such a status is taken, on a connection of its own', async () => {
  let requests = 0
  const url = await endpoint((socket, text) => {
    const [whole, rest] = wholeRequests(text)
    requests += whole
    if (whole > 0) socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    return rest
  })
  await expect(post(url)).resolves.toEqual({ kind: 'answered', status: 400 })
  await expect(post(url)).resolves.toEqual({ kind: 'answered', status: 400 })
  expect(requests).toBe(2)
})

test('a kept connection of an endpoint that answers properly is kept', async () => {
  const url = await answering([OK], 0)
  await eventually(async () => {
    await post(url)
    const before = connections
    for (let n = 0; n < 20; n += 1) await expect(post(url)).resolves.toEqual({ kind: 'delivered', status: 200 })
    expect(connections).toBe(before)
  })
})
