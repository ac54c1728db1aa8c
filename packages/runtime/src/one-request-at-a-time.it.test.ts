import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { oneRequestAtATime } from './one-request-at-a-time.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
/** As many as Node reads at once. */
const COUNT = 2_000

let server: Server
/** Requests that Node has parsed, and those of them that were passed on. */
let parsed = 0
let started = 0

async function serve(listener: RequestListener, limited = oneRequestAtATime): Promise<number> {
  started = 0
  parsed = 0
  server = createServer()
  const counted: RequestListener = (request, response) => {
    started += 1
    listener(request, response)
  }
  server.on('request', () => (parsed += 1)).on('request', limited(server, counted))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => void server.close(resolve))
})

const answerLater: RequestListener = (_request, response) => void setImmediate(() => response.end('answered'))

/** @returns what the server sent until it closed the connection */
async function sendAhead(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  let answers = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    answers += text
  })
  socket.write(REQUEST.repeat(COUNT))
  await once(socket, 'close')
  return answers
}

test('of requests that are sent ahead, the first is answered, and the others cost nothing', async () => {
  const port = await serve(answerLater)
  const answers = await sendAhead(port)
  expect(started).toBe(1)
  expect(answers).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: close[\s\S]*answered/)
  expect(answers.match(/HTTP/g)).toHaveLength(1)
})

test('of requests that are sent ahead, Node parses a small part before anything else runs, and without the limit much more', async () => {
  const parsedAtOnce = async (limited?: typeof oneRequestAtATime): Promise<number> => {
    const { promise: atOnce, resolve } = Promise.withResolvers<number>()
    const port = await serve((_request, response) => {
      setImmediate(() => resolve(parsed))
      response.end()
    }, limited)
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {}).write(REQUEST.repeat(COUNT))
    const count = await atOnce
    server.closeAllConnections()
    server.close()
    return count
  }
  expect(await parsedAtOnce((_server, listener) => listener)).toBeGreaterThan(COUNT / 4)
  expect(await parsedAtOnce()).toBeLessThan(COUNT / 8)
})

const LARGE = 'x'.repeat(300_000)

test.each([
  ['with a length', `Content-Length: ${LARGE.length}\r\n\r\n${LARGE}`],
  ['in chunks', `Transfer-Encoding: chunked\r\n\r\n${`fffe\r\n${'x'.repeat(65_534)}\r\n`.repeat(5)}0\r\n\r\n`],
])('a large body %s arrives whole, also if it is read late, and the connection stays', async (_how, rest) => {
  const port = await serve((request, response) => {
    let length = 0
    request.on('data', (chunk: Buffer) => (length += chunk.length)).on('end', () => response.end(`${length} bytes`))
    request.pause()
    setImmediate(() => request.resume())
  })
  const socket = connect({ port, host: '127.0.0.1' }).setEncoding('latin1')
  for (let n = 0; n < 3; n++) {
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${rest}`)
    const [answer] = (await once(socket, 'data')) as [string]
    expect(answer).toMatch(/(300000|327670) bytes$/)
  }
  socket.destroy()
  expect(started).toBe(3)
})

test('a large answer that is read late arrives whole, with a further request before it is read', async () => {
  const answer = 'a'.repeat(20_000_000)
  const port = await serve((_request, response) => response.end(answer))
  const socket = connect({ port, host: '127.0.0.1' })
  socket.write(REQUEST)
  await once(server, 'request')
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n${'x'.repeat(30_000)}`)
  let length = 0
  for await (const chunk of socket) length += (chunk as Buffer).length
  expect(length).toBeGreaterThan(answer.length)
  expect(length).toBeLessThan(answer.length + 1_000)
  expect(started).toBe(1)
})

test('the same requests, each sent after the answer to the one before, are all answered on one connection', async () => {
  const port = await serve(answerLater)
  const socket = connect({ port, host: '127.0.0.1' })
  for (let n = 0; n < COUNT; n++) {
    socket.write(REQUEST)
    await once(socket, 'data')
  }
  socket.destroy()
  expect(started).toBe(COUNT)
})

test('an answer that has begun is sent to its end', async () => {
  const { promise: sentAhead, resolve } = Promise.withResolvers<void>()
  const port = await serve((_request, response) => {
    response.write('begun')
    server.once('request', () => resolve())
    void sentAhead.then(() => response.end('ended'))
  })
  expect(await sendAhead(port)).toMatch(/begun[\s\S]*ended/)
  expect(started).toBe(1)
})
