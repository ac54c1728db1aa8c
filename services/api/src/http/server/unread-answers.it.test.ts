import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { eventually } from '@switchhook/testkit'
import express from 'express'
import { createLimitExpensive } from '../limits/limit-expensive.ts'
import type { Caller, Route } from '../route.ts'
import { serveRoute } from './serve-route.ts'

/** More than fits into the buffers of a connection. */
const LARGE = { items: Array.from({ length: 16 * 1_024 }, () => 'x'.repeat(1_024)) }
const CALLER: Caller = { tenant: 'acme', clientId: 'crm', issuer: 'https://idp.example', role: 'viewer' }

let server: Server
let made = 0
const sockets: Socket[] = []

beforeAll(async () => {
  const route: Route = {
    method: 'get',
    path: '/list',
    operationId: 'list',
    tag: 'subscriptions',
    summary: '',
    role: 'viewer',
    isExpensive: true,
    responses: {},
    handle: async () => {
      made += 1
      return { status: 200, body: LARGE }
    },
  }
  const app = express()
  app.use((_request, response, next) => {
    response.locals['context'] = { requestId: 'x', traceId: 'y' }
    next()
  })
  app.get(
    '/list',
    serveRoute(route, {
      authenticate: async () => CALLER,
      limitClient: async () => ({}),
      limitExpensive: createLimitExpensive(),
      answerOnce: (_target, request, handle) => handle(request),
      audit: (route, request) => route.handle(request),
    }),
  )
  server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

function ask(): Socket {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  socket.on('error', () => {})
  sockets.push(socket)
  socket.write('GET /list HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  return socket
}

test('a list is made after the client has read its last one; one that reads gets all', async () => {
  const unread = ask()
  await eventually(() => expect(made).toBe(1))
  const others = [ask(), ask()]
  await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).text()
  expect(made).toBe(1)
  for (const socket of [unread, ...others]) socket.resume()
  await Promise.all([unread, ...others].map((socket) => once(socket, 'close')))
  expect(made).toBe(3)
})
