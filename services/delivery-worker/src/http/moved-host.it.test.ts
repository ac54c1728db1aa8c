import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { createAddressGuard } from '@switchhook/egress'
import { aDelivery, eventually } from '@switchhook/testkit'
import { aPostClient, type TestPostClient } from '../testing/post-client.ts'

const guard = createAddressGuard(['127.0.0.0/8'])
const MAX_AGE_MS = 300
/** Less than the time limit of a test, which does not end a loop. */
const WITHIN_MS = 30_000

let address: string
let lookUps: number
/** Look-ups end after it. */
let lookUpsEnd: Promise<void>
let servers: Server[]
let client: TestPostClient
let port: number

async function lookup(): Promise<string[]> {
  lookUps += 1
  const found = [address]
  await lookUpsEnd
  return found
}

async function listen(host: string, onPort: number, listener: RequestListener): Promise<Server> {
  const server = createServer(listener)
  servers.push(server)
  await once(server.listen(onPort, host), 'listening')
  return server
}

const connectionsOf = (server: Server | undefined): Promise<number> =>
  new Promise((resolve, reject) => server?.getConnections((error, count) => (error ? reject(error) : resolve(count))))

beforeEach(async () => {
  servers = []
  lookUps = 0
  lookUpsEnd = Promise.resolve()
  address = '127.0.0.1'
  const old = await listen('127.0.0.1', 0, (_request, response) => response.writeHead(404).end())
  port = (old.address() as AddressInfo).port
  client = aPostClient({ timeoutMs: 5_000, maxSockets: 1, guard, lookup, maxAgeMs: MAX_AGE_MS })
})

afterEach(async () => {
  await client.close()
  for (const server of servers) server.close()
})

const post = () => client.post(aDelivery({ url: `http://moved.example:${port}/` }), 1)

/** POSTs every 20 ms until `done`. @throws if that takes too long */
async function postUntil(done: (status: number | undefined) => boolean): Promise<void> {
  const untilMs = performance.now() + WITHIN_MS
  for (;;) {
    if (performance.now() > untilMs) throw new Error(`not done after ${lookUps} look-ups`)
    const outcome = await post()
    if (done('status' in outcome ? outcome.status : undefined)) return
    await wait(20)
  }
}

test('a host that has moved is found under steady traffic, and no delivery waits for the new connection', async () => {
  await post()
  await listen('127.0.0.2', port, (_request, response) => response.writeHead(204).end())
  address = '127.0.0.2'
  const { promise, resolve: end } = Promise.withResolvers<void>()
  lookUpsEnd = promise
  await postUntil(() => lookUps === 2)
  for (let posts = 0; posts < 3; posts += 1) await expect(post()).resolves.toMatchObject({ status: 404 })
  end()
  await postUntil((status) => status === 204)
  await eventually(async () => expect(await connectionsOf(servers[0])).toBe(0))
})

test('a connection lives on as long as no other can be made', async () => {
  await post()
  address = '127.0.0.3'
  await postUntil(() => lookUps >= 3)
  await expect(post()).resolves.toMatchObject({ kind: 'answered', status: 404 })
})

test('renewed connections are closed, and without traffic none is left', async () => {
  await postUntil(() => lookUps >= 4)
  expect(await connectionsOf(servers[0])).toBeLessThanOrEqual(2)
  await eventually(async () => expect(await connectionsOf(servers[0])).toBe(0), { timeoutMs: 10_000 })
})

test('a renewed connection that the server closes as its first request arrives costs no attempt', async () => {
  let resets = 0
  const impatient = await listen('127.0.0.2', port, (_request, response) => response.writeHead(204).end())
  impatient.on('connection', (socket: Socket) => {
    const openedAt = performance.now()
    socket.prependOnceListener('data', () => {
      if (performance.now() - openedAt < 100) return
      resets += 1
      socket.resetAndDestroy()
    })
  })
  address = '127.0.0.2'
  for (let posts = 0; posts < 5; posts += 1) {
    await expect(post()).resolves.toMatchObject({ kind: 'delivered' })
    await wait(250)
  }
  expect(resets).toBeGreaterThan(0)
})
