import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { oneRequestAtATime } from './one-request-at-a-time.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
/** As many as Node reads at once. */
const COUNT = 2_000

let server: Server
let started = 0

async function serve(listener: RequestListener): Promise<number> {
  started = 0
  server = createServer(
    oneRequestAtATime((request, response) => {
      started += 1
      listener(request, response)
    }),
  )
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
  const port = await serve((request, response) => {
    response.write('begun')
    request.socket.once('pause', resolve)
    void sentAhead.then(() => response.end('ended'))
  })
  expect(await sendAhead(port)).toMatch(/begun[\s\S]*ended/)
  expect(started).toBe(1)
})
