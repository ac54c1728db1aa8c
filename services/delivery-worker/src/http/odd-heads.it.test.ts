import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Outcome } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { aDelivery, eventually } from '@switchhook/testkit'
import { aPostClient, type TestPostClient } from '../testing/post-client.ts'

const guard = createAddressGuard(['127.0.0.0/8'])

let client: TestPostClient
let server: Server
let connections: number
let closed: number

beforeEach(() => {
  connections = 0
  closed = 0
  client = aPostClient({ timeoutMs: 2_000, maxSockets: 1, guard, lookup: async () => [] })
})

afterEach(async () => {
  await client.close()
  server.close()
})

/** Answers each request with these bytes, in one packet or byte by byte, and keeps the connection open. */
async function endpoint(answer: string, { byByte = false } = {}): Promise<string> {
  server = createServer((socket) => {
    connections += 1
    socket.setNoDelay()
    socket.on('error', () => {})
    socket.on('close', () => (closed += 1))
    socket.on('data', () => {
      if (!byByte) return void socket.write(answer)
      let sent = 0
      const drip = (): void => {
        if (sent < answer.length && !socket.destroyed) socket.write(answer[sent++] ?? '', () => setImmediate(drip))
      }
      drip()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const ODD_HEADS: readonly (readonly [name: string, rest: string])[] = [
  ['a folded header', 'X-Odd: one\r\n two\r\nContent-Length: 0\r\n\r\n'],
  ['a bare line feed', 'X-Odd: one\nContent-Length: 0\r\n\r\n'],
  ['bare line feeds alone', 'Content-Length: 0\n\n'],
  ['the same length twice', 'Content-Length: 2\r\nContent-Length: 2\r\n\r\nok'],
  ['two lengths', 'Content-Length: 1\r\nContent-Length: 2\r\n\r\nok'],
  ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a length that is no number', 'Content-Length: many\r\n\r\n'],
  ['a header without a name', ': x\r\n\r\n'],
  ['a header without a colon', 'X-Odd\r\n\r\n'],
  ['a blank before the colon', 'X-Odd : x\r\n\r\n'],
  ['a NUL in a header', 'X-Odd: a\0b\r\n\r\n'],
  ['more header than is read', `X-Huge: ${'x'.repeat(100_000)}\r\n\r\n`],
]

test.each(ODD_HEADS)('the status line decides before %s, and the connection is closed', async (_name, rest) => {
  const url = await endpoint(`HTTP/1.1 200 OK\r\n${rest}`)
  await expect(client.post(aDelivery({ url }), 1)).resolves.toMatchObject({ kind: 'delivered', status: 200 })
  await client.post(aDelivery({ url }), 1)
  expect(connections).toBe(2)
  await eventually(() => expect(closed).toBe(2))
})

test.each<[string, Outcome]>([
  ['HTTP/1.1 204', { kind: 'delivered', status: 204 }],
  ['HTTP/1.0 200 OK', { kind: 'delivered', status: 200 }],
  ['HTTP/1.1 410 Gone', { kind: 'answered', status: 410 }],
  ['HTTP/1.1 503 Away', { kind: 'answered', status: 503 }],
  ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 OK', { kind: 'delivered', status: 202 }],
])('%j decides', async (line, outcome) => {
  const url = await endpoint(`${line}\r\nX-Odd: one\r\n two\r\n\r\n`)
  await expect(client.post(aDelivery({ url }), 1)).resolves.toMatchObject(outcome)
})

test('the status line decides, however its bytes are split', async () => {
  const url = await endpoint('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-Odd: one\r\n two\r\n\r\n', {
    byByte: true,
  })
  await expect(client.post(aDelivery({ url }), 1)).resolves.toMatchObject({ kind: 'delivered', status: 200 })
})

test('an attempt says that the head was odd', async () => {
  const url = await endpoint('HTTP/1.1 200 OK\r\nX-Odd : x\r\n\r\n')
  await expect(client.post(aDelivery({ url }), 1)).resolves.toHaveProperty('detail', expect.stringContaining('head'))
})

test.each([
  ['a status with four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status with a letter', 'HTTP/1.1 2x0 OK\r\n\r\n'],
  ['a status and no blank', 'HTTP/1.1 200OK\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'],
  ['no status', 'HTTP/1.1 000\r\n\r\n'],
  ['another protocol', 'ICY 200 OK\r\n\r\n'],
  ['another version', 'HTTP/3.7 200 OK\r\nX-Odd : x\r\n\r\n'],
  ['the status line of an interim answer alone', 'HTTP/1.1 103 Early Hints\r\nX-Odd : x\r\n\r\n'],
])('%s is malformed', async (_name, answer) => {
  const url = await endpoint(answer)
  await expect(client.post(aDelivery({ url }), 1)).resolves.toMatchObject({ kind: 'unreachable', reason: 'malformed' })
})
