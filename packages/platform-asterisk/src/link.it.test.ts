import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { LinkState } from '@switchhook/platform'
import { eventually, watchReadingDelay } from '@switchhook/testkit'
import { type AsteriskLink, createLink } from './link.ts'

const LEASE_MS = 300

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
    leaseMs: LEASE_MS,
    reach: async () => {},
    onEvent: () => {},
    onOpen,
    onState: (state) => void states.push(state),
    onError: (_message, error) => void errors.push(error),
  })
  return { link, states, errors }
}

let opened: AsteriskLink | undefined
afterEach(async () => {
  await opened?.stop(true)
  opened = undefined
})

/** A process that stands still until its lease ends has lost it, and shows nothing about a process that runs. */
async function unlessStalled(isTrue: () => Promise<void>): Promise<void> {
  for (;;) {
    const delay = watchReadingDelay()
    try {
      return await isTrue()
    } catch (error) {
      if (delay.maxMs() < LEASE_MS / 3) throw error
      await opened?.stop(true)
    } finally {
      delay.stop()
    }
  }
}

test('the lease is kept while the calls are compared with Asterisk, however long that takes', () =>
  unlessStalled(async () => {
    let taken = 0
    const lease = async () => ++taken > 0
    // It is prolonged three times before its end.
    const isKept = () => eventually(() => expect(taken).toBeGreaterThan(5))
    const { link, states, errors } = aLink(isKept, lease)
    opened = link
    await link.start()
    expect([states, errors]).toEqual([['connected'], []])
  }))

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

test('a stream that ends while the calls are compared is opened again immediately', async () => {
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

describe('a lease that Redis cannot confirm', () => {
  const unavailable = new Error('Redis is away')

  test('keeps the stream open until the lease ends, and then counts as lost, not as standby', async () => {
    let failedAtMs: number | undefined
    let confirmedAtMs = 0
    const lease = async () => {
      if (failedAtMs !== undefined) throw unavailable
      confirmedAtMs = performance.now()
      return true
    }
    const { link, states, errors } = aLink(async () => {}, lease)
    opened = link
    await link.start()
    failedAtMs = performance.now()
    await eventually(() => expect(link.state).toBe('lost'))
    expect(performance.now() - confirmedAtMs).toBeGreaterThanOrEqual(LEASE_MS)
    expect(errors).toEqual([new Error('Redis did not confirm the lease of the event stream in time')])
    failedAtMs = undefined
    await eventually(() => expect(link.state).toBe('connected'))
    expect(states).toEqual(['connected', 'lost', 'connected'])
  })

  test('keeps the stream open through a pause that is shorter than the lease', () =>
    unlessStalled(async () => {
      let asked = 0
      let refused = 0
      const { link, states, errors } = aLink(
        async () => {},
        async () => {
          asked += 1
          if (asked !== refused) return true
          throw unavailable
        },
      )
      opened = link
      await link.start()
      refused = asked + 1
      await eventually(() => expect(asked).toBeGreaterThan(refused + 6))
      expect([states, errors]).toEqual([['connected'], []])
    }))

  test('ends the stream although Redis never answers', async () => {
    let isHanging = false
    const lease = () => (isHanging ? new Promise<never>(() => {}) : Promise.resolve(true))
    const { link } = aLink(async () => {}, lease)
    opened = link
    await link.start()
    isHanging = true
    await eventually(() => expect(link.state).toBe('lost'))
  })

  test('leaves a replica on standby until the lease of the other one must have ended', async () => {
    let isAway = false
    const { link, states } = aLink(
      async () => {},
      async () => {
        if (isAway) throw unavailable
        return false
      },
    )
    opened = link
    await link.start()
    isAway = true
    await eventually(() => expect(link.state).toBe('lost'))
    isAway = false
    await eventually(() => expect(link.state).toBe('standby'))
    expect(states).toEqual(['standby', 'lost', 'standby'])
  })
})
