import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { eventually } from '@switchhook/testkit'
import { startHttpServer } from './http-server.ts'

/** More than fits into the buffers of a connection. */
const LARGE = Buffer.alloc(16 * 1_024 * 1_024)

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

/** Answers `LARGE` to this text. */
async function askForLarge(text: string, unreadMs = 200) {
  const { promise: isSent, resolve } = Promise.withResolvers<boolean>()
  const server = await startHttpServer(
    0,
    (_request, response) => {
      response.once('close', () => resolve(response.writableFinished))
      response.end(LARGE)
    },
    { deadlines: { headersMs: 200, requestMs: 200, lingerMs: 0, unreadMs } },
  )
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return { server, socket, isSent }
}

test.each([
  ['one request', REQUEST, ''],
  ['two requests', REQUEST.repeat(2), ''],
  ['a request, then line ends', REQUEST, '\r\n'],
  ['two requests, then more bytes', REQUEST.repeat(2), 'x'],
])(
  'a client that sends %s, and reads nothing of the answer, loses its connection',
  async (_what, text, more) => {
    const { server, socket, isSent } = await askForLarge(text)
    const sending = setInterval(() => socket.write(more), 20).unref()
    expect(await isSent).toBe(false)
    clearInterval(sending)
    socket.destroy()
    await server.close()
  },
  3_000,
)

/** Reads on whenever it has taken nothing for `restMs`, an eighth of `LARGE` each time. */
function readInParts(socket: Socket, restMs: number): void {
  let taken = 0
  socket.on('data', ({ length }) => {
    taken += length
    if (taken < LARGE.length / 8) return
    taken = 0
    socket.pause()
    setTimeout(() => socket.resume(), restMs)
  })
}

test('a client that takes longer to read the answer, and reads on, gets all of it', async () => {
  const { server, socket, isSent } = await askForLarge(REQUEST, 500)
  readInParts(socket, 150)
  expect(await isSent).toBe(true)
  socket.destroy()
  await server.close()
})

const ANSWER = (_request: IncomingMessage, response: ServerResponse): void => void response.end('answered')

/** The start of what the server sends to a client at this address; empty if it closes the connection. */
function answerTo(
  localAddress: string,
  port: number,
  times = 1,
): { readonly socket: Socket; readonly start: Promise<string> } {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  const { promise: start, resolve } = Promise.withResolvers<string>()
  socket.on('error', () => {})
  socket.once('data', (data) => resolve(String(data))).once('close', () => resolve(''))
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(times))
  return { socket, start }
}

test('requests that are sent ahead are not handled; the same requests one after the other are', async () => {
  let handled = 0
  const server = await startHttpServer(0, (request, response) => {
    handled += 1
    ANSWER(request, response)
  })
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  socket.on('error', () => {}).resume()
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000))
  await once(socket, 'close')
  expect(handled).toBeLessThanOrEqual(1)
  for (let n = 0; n < 20; n++) await (await fetch(`http://127.0.0.1:${server.port}/`)).text()
  expect(handled).toBeGreaterThanOrEqual(20)
  await server.close()
})

test('a client that reads a large answer gets all of it although the server closes', async () => {
  const { promise: isAsked, resolve } = Promise.withResolvers<ServerResponse>()
  const server = await startHttpServer(0, (_request, response) => resolve(response), { deadlines: { lingerMs: 0 } })
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const response = await isAsked
  response.end(LARGE)
  await once(socket, 'readable')
  const closed = server.close()
  let bytes = 0
  for await (const chunk of socket) bytes += (chunk as Buffer).length
  expect(bytes).toBeGreaterThan(LARGE.length)
  await closed
})

test('the server closes once an answer ends that it had begun before', async () => {
  const { promise: isAsked, resolve } = Promise.withResolvers<ServerResponse>()
  const server = await startHttpServer(0, (_request, response) => resolve(response), { deadlines: { lingerMs: 0 } })
  const { socket, start } = answerTo('127.0.0.1', server.port)
  const response = await isAsked
  response.write('begun')
  expect(await start).toContain('begun')
  const closed = server.close()
  response.end()
  await once(socket, 'end')
  socket.destroy()
  await closed
}, 4_000)

test('the server closes once it has answered a client that sent further requests', async () => {
  const { promise: isAsked, resolve } = Promise.withResolvers<ServerResponse>()
  const server = await startHttpServer(0, (_request, response) => resolve(response), { deadlines: { lingerMs: 0 } })
  const { start } = answerTo('127.0.0.1', server.port, 2)
  const response = await isAsked
  const closed = server.close()
  response.end('answered')
  expect(await start).toContain('answered')
  await closed
})

test.each([
  ['127.0.0.1', false],
  [undefined, true],
])('a server on %s answers at another address of this machine: %s', async (host, isAnswered) => {
  const server = await startHttpServer(0, ANSWER, { host, deadlines: { lingerMs: 0 } })
  const socket = connect({ port: server.port, host: '127.0.0.2' })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  expect(await promise).toBe(isAnswered)
  socket.destroy()
  await server.close()
})

test('an address with too many connections gets no further one; others do, and it does once one has ended', async () => {
  const isExempt = (address: string | undefined): boolean => address?.endsWith('127.0.0.3') === true
  const server = await startHttpServer(0, ANSWER, {
    deadlines: { lingerMs: 0 },
    limits: { total: 6, perAddress: 2, isExempt },
  })
  const ask = async (address: string) => {
    const { socket, start } = answerTo(address, server.port)
    return { socket, isAnswered: (await start).includes('answered') }
  }
  const [first, second] = [await ask('127.0.0.1'), await ask('127.0.0.1')]
  expect([first, second, await ask('127.0.0.1')].map(({ isAnswered }) => isAnswered)).toEqual([true, true, false])
  expect((await ask('127.0.0.2')).isAnswered).toBe(true)
  for (let n = 0; n < 3; n++) expect((await ask('127.0.0.3')).isAnswered).toBe(true)
  // Six in all.
  expect((await ask('127.0.0.2')).isAnswered).toBe(false)
  first.socket.destroy()
  await eventually(async () => expect((await ask('127.0.0.1')).isAnswered).toBe(true))
  await server.close()
})
