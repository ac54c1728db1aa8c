import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { eventually } from '@switchhook/testkit'
import fc from 'fast-check'
import { oneRequestAtATime } from './one-request-at-a-time.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
/** As many as Node reads at once. */
const COUNT = 2_000

let server: Server
/** Requests that Node has begun to answer, and those of them that were passed on. */
let begun = 0
let started = 0

const countBegun = (): void => void (begun += 1)
beforeAll(() => subscribe('http.server.request.start', countBegun))
afterAll(() => unsubscribe('http.server.request.start', countBegun))

afterEach(async () => {
  const closed = new Promise((resolve) => void server.close(resolve))
  server.closeAllConnections()
  await closed
})

const limited = (request: RequestListener): Server => oneRequestAtATime({}, { request })

async function serve(listener: RequestListener, create: (listener: RequestListener) => Server = limited) {
  server = create((request, response) => {
    started += 1
    listener(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  started = 0
  begun = 0
}

function open(): Socket {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  return socket.on('error', () => {})
}

const answerLater: RequestListener = (_request, response) => void setImmediate(() => response.end('answered'))

/** @returns what the server sent until it closed the connection */
async function send(text: string): Promise<string> {
  const socket = open()
  let answers = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    answers += part
  })
  socket.write(text, 'latin1')
  await once(socket, 'close')
  return answers
}

test('of requests that are sent ahead, the first is answered, and the others cost nothing', async () => {
  await serve(answerLater)
  const answers = await send(REQUEST.repeat(COUNT))
  expect({ started, begun }).toEqual({ started: 1, begun: 1 })
  expect(answers).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: close[\s\S]*answered/)
  expect(answers.match(/HTTP/g)).toHaveLength(1)

  server.close()
  await serve(answerLater, createServer)
  open().write(REQUEST.repeat(COUNT))
  await eventually(() => expect(begun).toBeGreaterThan(COUNT / 4))
})

test.each([
  ['without Host', 'GET / HTTP/1.1\r\n\r\n'],
  ['with an unknown Expect', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n'],
  ['that expect 100-continue', 'POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx'],
  ['for an upgrade', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['with a body', `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${REQUEST.length}\r\n\r\n${REQUEST}`],
  ['in chunks', `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n`],
])('of requests %s that are sent ahead, too, only the first is answered', async (_which, request) => {
  await serve((incoming, response) => void incoming.resume().on('end', () => answerLater(incoming, response)))
  const answers = await send(request.repeat(COUNT))
  expect({ started, begun }).toEqual({ started: 1, begun: 1 })
  expect(answers).toContain('Connection: close')
  expect(answers.replace('HTTP/1.1 100 Continue\r\n\r\n', '').match(/HTTP/g)).toHaveLength(1)
})

test.each([
  ['a CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['no HTTP', 'nonsense\r\n\r\n'.repeat(COUNT)],
])('%s after a request does not change the answer to that request', async (_what, text) => {
  const refusal = jest.fn(() => 'refused')
  await serve(answerLater, (request) => oneRequestAtATime({}, { request, refusal }))
  expect(await send(`${REQUEST}${text}`)).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: close[\s\S]*answered$/)
  expect(refusal).not.toHaveBeenCalled()
  expect(await send(text)).toBe('refused')
})

const TIMES = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20, restMs: 100 }
const impatient = (request: RequestListener): Server => oneRequestAtATime(TIMES, { request })

test.each(['GE', 'nonsense\r\n'])('%j after a request, and nothing more, does not change its answer', async (text) => {
  await serve((_request, response) => {
    response.write('begun')
    server.once('clientError', () => setImmediate(() => response.end('ended')))
  }, impatient)
  const answers = await send(`${REQUEST}${text}`)
  expect(answers).toMatch(/begun[\s\S]*ended/)
  expect(answers.match(/HTTP/g)).toHaveLength(1)
})

test.each([
  ['nothing', '', 408],
  ['a part of a request', 'GET', 408],
  ['no HTTP', 'nonsense\r\n\r\n', 400],
  ['a large header', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`, 431],
  ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
])('a client that sends %s, and keeps its end open, is disconnected after the answer', async (_what, text, status) => {
  await serve(answerLater, impatient)
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write(text)
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toContain(`HTTP/1.1 ${status} `)
  const count = async (): Promise<number> => await promisify(server.getConnections.bind(server))()
  await eventually(async () => expect(await count()).toBe(0))
  socket.destroy()
})

test('the same requests, each sent after the answer to the one before, are all answered on one connection', async () => {
  await serve(answerLater)
  const socket = open()
  for (let n = 0; n < COUNT; n++) {
    socket.write(REQUEST)
    await once(socket, 'data')
  }
  socket.destroy()
  expect(started).toBe(COUNT)
})

test('an answer that has begun, and is read slowly, is sent to its end', async () => {
  const part = Buffer.alloc(1_000_000, 'a')
  const writeSlowly = async (response: ServerResponse): Promise<void> => {
    response.write('begun')
    await once(server, 'upgrade')
    for (let n = 0; n < 20; n++) if (!response.write(part)) await once(response, 'drain')
    response.end('ended')
  }
  await serve((_request, response) => void writeSlowly(response))
  const answer = await send(REQUEST.repeat(2))
  expect(answer).toMatch(/begun[\s\S]*ended/)
  expect(answer.length).toBeGreaterThan(20 * part.length)
  expect(started).toBe(1)
})

test('a client that has sent ahead and disconnects ends its request', async () => {
  const ended: string[] = []
  await serve((request, response) => {
    request.once('close', () => ended.push('request'))
    response.once('close', () => ended.push('response'))
  })
  const socket = open()
  await once(socket, 'connect')
  socket.write(REQUEST.repeat(2))
  await eventually(() => expect(started).toBe(1))
  socket.resetAndDestroy()
  await eventually(() => expect(ended.toSorted()).toEqual(['request', 'response']))
})

test('a client that has sent ahead of a body that is not read, and disconnects, ends its request', async () => {
  let buffered = 0
  let isClosed = false
  await serve((request, response) => {
    response.once('close', () => (isClosed = true))
    request.once('readable', () => (buffered = request.readableLength))
  })
  const socket = open().setNoDelay()
  const body = Buffer.alloc(100_000)
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`)
  socket.write(body.subarray(0, 40_000))
  await eventually(() => expect(buffered).toBeGreaterThan(0))
  const isFollowed = once(server, 'upgrade')
  socket.write(Buffer.concat([body.subarray(40_000), Buffer.from(REQUEST)]))
  await isFollowed
  socket.resetAndDestroy()
  await eventually(() => expect(isClosed).toBe(true))
})

test.each([
  ['a request', REQUEST, 'upgrade'],
  ['no HTTP', 'nonsense\r\n\r\n', 'clientError'],
])(
  'of what follows %s before the answer, most waits at the client; the answer arrives whole',
  async (_what, text, event) => {
    const { promise: isAsked, resolve } = Promise.withResolvers<ServerResponse>()
    await serve((request, response) => {
      server.once(event, () => {
        request.resume()
        resolve(response)
      })
    })
    const socket = open()
    let answers = ''
    socket.on('data', (part) => {
      answers += String(part)
    })
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx${text}`)
    const response = await isAsked
    const more = Buffer.alloc(50_000_000)
    socket.write(more)
    const bytesRead = (): number => response.req.socket.bytesRead
    await eventually(() => expect(bytesRead()).toBeGreaterThan(50_000))
    for (let seen = -1, turns = 0; turns < 20; await nextTurn()) {
      turns = seen === bytesRead() ? turns + 1 : 0
      seen = bytesRead()
    }
    expect(bytesRead()).toBeLessThan(1_000_000)
    response.end('answered')
    await once(socket, 'end')
    expect(answers).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*answered$/)
  },
)

test('a body that is not read waits at the client', async () => {
  let buffered = (): number => 0
  await serve((request) => {
    buffered = () => request.readableLength
  })
  const socket = open()
  const body = Buffer.alloc(50_000_000)
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`)
  socket.write(body)
  await eventually(() => expect(buffered()).toBeGreaterThan(0))
  for (let seen = -1; seen < buffered(); await nextTurn()) seen = buffered()
  expect(buffered()).toBeLessThan(200_000)
  expect(socket.writableLength).toBeGreaterThan(body.length / 2)
})

test('requests arrive whole, however the bytes are cut', async () => {
  const seen: unknown[] = []
  await serve((request, response) => {
    const { method, url, headers } = request
    const chunks: Buffer[] = []
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        seen.push({ method, url, note: headers['x-note'], body: Buffer.concat(chunks).toString('latin1') })
        response.end('answered')
      })
  })
  const text = fc.string({
    unit: fc.constantFrom('a', '\r', '\n', '0', ':', ' ', 'GET / HTTP/1.1\r\n\r\n'),
    maxLength: 12,
  })
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE'),
    url: fc.nat(99).map((n) => `/${'p'.repeat(n)}`),
    note: fc.nat(99).map((n) => 'n'.repeat(n + 1)),
    body: fc.array(text, { maxLength: 4 }),
    isChunked: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { maxLength: 4 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
      async (requests, cuts) => {
        seen.length = 0
        const socket = open().setNoDelay()
        for (const { method, url, note, body, isChunked } of requests) {
          const parts = body.filter(Boolean)
          const sent = isChunked
            ? `Transfer-Encoding: chunked\r\n\r\n${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`
            : `Content-Length: ${parts.join('').length}\r\n\r\n${parts.join('')}`
          let rest = `${method} ${url} HTTP/1.1\r\nHost: x\r\nX-Note: ${note}\r\n${sent}`
          const answered = once(socket, 'data')
          while (rest !== '') {
            const { value: length } = cuts.next()
            await new Promise((resolve) => socket.write(rest.slice(0, length), 'latin1', resolve))
            rest = rest.slice(length)
            await nextTurn()
          }
          await answered
        }
        socket.destroy()
        expect(seen).toEqual(
          requests.map(({ method, url, note, body }) => ({ method, url, note, body: body.join('') })),
        )
      },
    ),
    { numRuns: 30 },
  )
})

describe('an answer before the end of the body', () => {
  const early: RequestListener = (_request, response) => void response.end('answered')
  const refusal = jest.fn(() => 'refused')
  const noted = (request: RequestListener): Server => oneRequestAtATime({}, { request, refusal })

  test('is read whole by a client that sends first; what follows in chunks is not parsed', async () => {
    await serve(early, noted)
    const body = `1\r\nx\r\n`.repeat(1_000_000)
    const answer = await send(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}no chunk`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*answered$/)
    expect(answer).toContain('Connection: close')
    expect(refusal).not.toHaveBeenCalled()
    expect({ started, begun }).toEqual({ started: 1, begun: 1 })
  })

  test('keeps the connection of a request with a length', async () => {
    await serve(early, noted)
    const socket = open()
    for (let n = 0; n < 3; n++) {
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n')
      await once(socket, 'data')
      socket.write('x')
    }
    expect(started).toBe(3)
    socket.destroy()
  })
})
