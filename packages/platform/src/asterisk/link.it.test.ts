import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@switchhook/testkit'
import { createLink, type Link, type LinkState } from './link.ts'

const LEASE_MS = 150

let server: Server
const sockets = new Set<Duplex>()

/** Accepts every WebSocket (RFC 6455, section 4.2.2) and sends nothing. */
beforeAll(async () => {
  server = createServer().on('upgrade', ({ headers }, socket) => {
    const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${magic}`).digest('base64')
    const answer = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
    socket.write([...answer, `Sec-WebSocket-Accept: ${accept}`, '', ''].join('\r\n'))
    socket.on('error', () => {})
    sockets.add(socket)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => void server.close(resolve))
})

function aLink(onOpen: () => Promise<void>, lease = async () => true) {
  const states: LinkState[] = []
  const errors: unknown[] = []
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const link = createLink({
    server: { url, user: 'switchhook', password: 'secret', ca: null },
    app: 'test',
    memory: { lease, release: async () => {} } as never,
    owner: 'one',
    leaseMs: LEASE_MS,
    reach: async () => {},
    onEvent: () => {},
    onOpen,
    onState: (state) => void states.push(state),
    onError: (_message, error) => void errors.push(error),
  })
  return { link, states, errors }
}

let opened: Link | undefined
afterEach(async () => {
  await opened?.stop(true)
  opened = undefined
})

test('the lease is kept while the calls are compared with Asterisk, however long that takes', async () => {
  const takenAtMs: number[] = []
  const lease = async () => takenAtMs.push(performance.now()) > 0
  const { link, states, errors } = aLink(() => sleep(4 * LEASE_MS), lease)
  opened = link
  await link.start()
  expect(performance.now() - (takenAtMs.at(-1) ?? 0)).toBeLessThan(LEASE_MS)
  expect([states, errors]).toEqual([['connected'], []])
})

test('a stream whose calls cannot be compared is opened again', async () => {
  let tries = 0
  const { link, states, errors } = aLink(async () => {
    tries += 1
    if (tries === 1) throw new Error('no lists')
  })
  opened = link
  await link.start()
  expect([states, errors]).toEqual([['connected'], [new Error('no lists')]])
})

test('a stream that ends while the calls are compared is opened again at once', async () => {
  let tries = 0
  const { link, errors } = aLink(async () => {
    tries += 1
    if (tries > 1) return
    for (const socket of sockets) socket.destroy()
    await new Promise(() => {})
  })
  opened = link
  await link.start()
  await eventually(() => expect([tries, errors.length]).toEqual([2, 1]))
})
