import { once } from 'node:events'
import { connect } from 'node:net'
import { startHttpServer } from './http-server.ts'

/** More than fits into the buffers of a connection. */
const LARGE = Buffer.alloc(16 * 1_024 * 1_024)

test('a client that reads nothing of an answer loses its connection', async () => {
  const { promise: isSent, resolve } = Promise.withResolvers<boolean>()
  const server = await startHttpServer(
    0,
    (_request, response) => {
      response.once('close', () => resolve(response.writableFinished))
      response.end(LARGE)
    },
    { headersMs: 200, requestMs: 200, lingerMs: 0, unreadMs: 200 },
  )
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(await isSent).toBe(false)
  socket.destroy()
  await server.close()
})
