import { randomInt } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type Delivery, olderLeasesEndAt, Unavailable } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { startDeadline } from '@switchhook/runtime'
import { aDeliveryTo } from '@switchhook/servicekit'
import { createBreakerStore, createSubscriptionStore, openRedis, type Redis } from '@switchhook/store'
import { aSubscription, silentLog, type TestRedis, testRedis, unverified } from '@switchhook/testkit'
import { generate } from 'selfsigned'
import type { DiagnosticsChannel } from 'undici'
import { createAdmit } from '../endpoint/admit.ts'
import { createPostClient } from './post.ts'
import { createPostUnderLease, type PostUnderLeaseDeps } from './post-under-lease.ts'

/**
 * Subscriptions are deleted, disabled, narrowed and moved while their first attempts look up names, connect and shake
 * hands, all of it slowly. Redis and the sockets are real; the api is represented by its store and its wait. The time of a
 * write is taken just before undici hands the bytes to the socket, and the time of an answer at the end of the wait, both
 * on this process's clock.
 */

const AT_ONCE = 50
const SLOW_LOOKUP_MS = 500
const SLOW_ACCEPT_MS = 500
/** A change then usually falls between the start of an attempt and its write. */
const CHANGE_WITHIN_MS = 600
const SEND_HEADERS = 'undici:client:sendHeaders'

const nowMs = (): number => performance.now()

/** On a busy machine a look can take longer than its lease. The message then comes back. */
async function onceRedisIsFast<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
    }
  }
}

const slowLookup = (): Promise<string[]> => pause(randomInt(SLOW_LOOKUP_MS), ['127.0.0.1'])

const servers: Server[] = []
const sockets = new Set<Socket>()
const trustedBefore = getCACertificates('default')
/** The times of the writes, and the arrived requests, by delivery and path. */
const written = new Map<string, number>()
const arrived = new Set<string>()
let redisServer: TestRedis
let redis: Redis
let httpPort: number
let slowHttpsPort: number

const onSendHeaders = (message: unknown): void => {
  const { request, headers } = message as DiagnosticsChannel.ClientSendHeadersMessage & { readonly headers: string }
  const [, deliveryId = ''] = /^x-svc-delivery: (.*)\r$/im.exec(headers) ?? []
  written.set(`${deliveryId} ${request.path}`, nowMs())
}

async function listen(server: Server): Promise<number> {
  servers.push(server)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  redisServer = await testRedis()
  redis = await openRedis({ url: redisServer.redisUrl, log: silentLog, name: 'test' })
  const answer: RequestListener = (request, response) => {
    arrived.add(`${String(request.headers['x-svc-delivery'])} ${request.url}`)
    request.resume()
    response.writeHead(204).end()
  }
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'client.example' }], {
    keySize: 2048,
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: '*.client.example' }] },
    ],
  })
  setDefaultCACertificates([...trustedBefore, cert])
  httpPort = await listen(createHttpServer(answer))
  const httpsPort = await listen(createHttpsServer({ key, cert }, answer))
  // Accepts a connection and starts its handshake after a delay.
  slowHttpsPort = await listen(
    createServer((incoming) => {
      incoming.on('error', () => {})
      setTimeout(() => {
        const onward = connect(httpsPort, '127.0.0.1').on('error', () => {})
        incoming.pipe(onward).pipe(incoming)
      }, randomInt(SLOW_ACCEPT_MS))
    }),
  )
  subscribe(SEND_HEADERS, onSendHeaders)
})

afterAll(async () => {
  unsubscribe(SEND_HEADERS, onSendHeaders)
  setDefaultCACertificates(trustedBefore)
  for (const server of servers) server.close()
  for (const socket of sockets) socket.destroy()
  await redis.close()
  await redisServer.close()
})

const CHANGES = ['delete', 'disable', 'narrow', 'move'] as const

interface Tally {
  delivered: number
  withdrawn: number
  renewed: number
  late: number
}

/** Runs rounds concurrently. Each has its own subscription and endpoint, a first attempt and a change. */
async function run(rounds: number, { hasLease }: { readonly hasLease: boolean }): Promise<Tally> {
  const guard = createAddressGuard(['127.0.0.0/8'])
  const client = createPostClient({ timeoutMs: 10_000, maxSockets: 1_000, guard, lookup: slowLookup })
  const subscriptions = createSubscriptionStore(redis, unverified, {})
  const breakers = createBreakerStore(redis, { failures: 5, cooldownMs: 30_000 })
  const admit = createAdmit({
    readEndpoint: (delivery) => breakers.readEndpoint(delivery),
    isFailing: () => false,
    canSign: () => true,
    findRemoved: async () => undefined,
    redisNow: Date.now,
    nowMs,
  })
  const tally: Tally = { delivered: 0, withdrawn: 0, renewed: 0, late: 0 }
  const writeWithin: PostUnderLeaseDeps['writeWithin'] = (delivery, attempt, terms) =>
    client.writeWithin(delivery, attempt, hasLease ? terms : { ...terms, trustedUntilMs: Infinity })
  const postUnderLease = createPostUnderLease({
    startDeadline: () => startDeadline(10_000),
    writeWithin,
    renew: (delivery) => {
      tally.renewed += 1
      return admit(delivery)
    },
    nowMs,
  })

  async function attempt(delivery: Delivery): Promise<void> {
    await pause(randomInt(300))
    const posted = await onceRedisIsFast(async () => {
      const { admission, trustedUntilMs } = await admit(delivery)
      return admission.kind === 'admitted' ? postUnderLease(admission.delivery, 1, trustedUntilMs) : admission
    })
    if (posted.kind === 'withdrawn') tally.withdrawn += 1
    else expect(posted).toMatchObject({ outcome: { kind: 'delivered', status: 204 } })
  }

  async function runRound(round: number): Promise<void> {
    const kind = CHANGES[round % CHANGES.length] ?? 'delete'
    const name = `http${round % 2 === 0 ? '' : 's'}://round-${round}.client.example`
    const origin = `${name}:${round % 2 === 0 ? httpPort : slowHttpsPort}`
    const subscription = aSubscription({ url: `${origin}/before`, eventTypes: ['call.status', 'agent.status'] })
    const { id, tenant } = await subscriptions.create(subscription)
    const first = aDeliveryTo(subscription)
    const { deliveryId } = first
    const attempting = attempt(first)
    await pause(randomInt(CHANGE_WITHIN_MS))
    if (kind === 'delete') await subscriptions.remove(tenant, id)
    if (kind === 'disable') await subscriptions.revise(tenant, id, (present) => ({ ...present, enabled: false }))
    if (kind === 'narrow')
      await subscriptions.revise(tenant, id, (present) => ({ ...present, eventTypes: ['agent.status'] }))
    if (kind === 'move') await subscriptions.revise(tenant, id, (present) => ({ ...present, url: `${origin}/after` }))
    const answerAtMs = olderLeasesEndAt(nowMs())
    while (nowMs() < answerAtMs) await pause(answerAtMs - nowMs())
    const answeredAtMs = nowMs()
    await attempting
    const ways = ['/before', '/after'].map((path) => `${deliveryId} ${path}`)
    tally.delivered += ways.filter((way) => arrived.has(way)).length
    // After the answer to a move, a first attempt may still be sent, to the new url only.
    const ruledOut = kind === 'move' ? ways.slice(0, 1) : ways
    tally.late += ruledOut.filter((way) => (written.get(way) ?? 0) > answeredAtMs).length
    expect(ways.filter((way) => arrived.has(way) !== written.has(way))).toEqual([])
  }

  let next = 0
  const runNext = async (): Promise<void> => {
    while (next < rounds) await runRound(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, runNext))
  await client.close()
  return tally
}

test('in 300 rounds, no first attempt is written after the answer that rules it out', async () => {
  const { late, delivered, withdrawn, renewed } = await run(300, { hasLease: true })
  expect(late).toBe(0)
  // The rounds cover attempts on both sides of the change, and leases that ended.
  expect(Math.min(delivered, withdrawn, renewed)).toBeGreaterThan(30)
})

test('without the lease, some first attempts are', async () => {
  expect((await run(100, { hasLease: false })).late).toBeGreaterThan(0)
})
