import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { createAddressGuard } from '@switchhook/egress'
import { eventually } from '@switchhook/testkit'
import type { Dispatcher } from 'undici'
import { type Connections, openConnections } from './connections.ts'

const guard = createAddressGuard(['127.0.0.0/8'])
const ABORTED = new Error('aborted')

let connections: Connections
let server: Server

beforeEach(() => {
  connections = openConnections({ maxSockets: 2, timeoutMs: 2_000, guard, lookup: async () => [] })
})

afterEach(async () => {
  await connections.close()
  server.close()
})

async function endpointThatWrites(answer: string): Promise<string> {
  server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(answer))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Sends a request and aborts it: at the beginning of the body, or after a while without one. Resolves to the error. */
const abortedRequest = (agent: Dispatcher, origin: string): Promise<unknown> =>
  new Promise((resolve) => {
    agent.dispatch(
      { origin, path: '/', method: 'POST', body: '{}' },
      {
        onRequestStart: (controller) => void setTimeout(() => controller.abort(ABORTED), 100),
        onResponseStart: () => {},
        onResponseData: (controller) => controller.abort(ABORTED),
        onResponseEnd: () => {},
        onResponseError: (_controller, error) => resolve(error),
      },
    )
  })

describe.each(['kept', 'fresh'] as const)('the %s connections', (name) => {
  test.each([
    ['without an answer', ''],
    ['during an answer that was too long', 'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nthe beginning'],
  ])('forget an endpoint whose last request was aborted %s', async (_why, answer) => {
    const origin = await endpointThatWrites(answer)
    const agent = connections[name]
    const aborted = abortedRequest(agent, origin)
    expect(Object.keys(agent.stats)).toEqual([origin])
    await expect(aborted).resolves.toBe(ABORTED)
    await eventually(() => expect(agent.stats).toEqual({}))
  })
})
