import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createAddressGuard } from '@switchhook/egress'
import { startDeadline } from '@switchhook/runtime'
import { aDelivery, stall } from '@switchhook/testkit'
import { aReading } from '../testing/delivering.ts'
import { aPostClient, type TestPostClient } from '../testing/post-client.ts'
import { createPostUnderLease } from './post-under-lease.ts'

const TIMEOUT_MS = 400
const STALL_MS = 900
const POSTS = 10
const guard = createAddressGuard(['127.0.0.0/8'])
/** Takes a moment, so that the stall falls between the look-up and the connection. */
const lookup = (): Promise<string[]> => wait(50, ['127.0.0.1'])

/** An endpoint in a thread of its own, which goes on while this thread stalls. Says when it has received `POSTS` requests. */
const ENDPOINT = `
  const { parentPort } = require('node:worker_threads')
  let received = 0
  const server = require('node:http').createServer((request, response) => {
    if (++received === ${POSTS}) parentPort.postMessage('all received')
    setTimeout(() => response.writeHead(204).end(), 50)
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

let endpoint: Worker
let port: number
let client: TestPostClient

beforeEach(async () => {
  endpoint = new Worker(ENDPOINT, { eval: true })
  ;[port] = await once(endpoint, 'message')
  // The first POST of a process loads and compiles the HTTP client, which can exceed the deadline on a busy machine.
  const cold = aPostClient({ timeoutMs: 10_000, maxSockets: 1, guard, lookup })
  await cold.post(aDelivery({ url: 'http://127.0.0.1:1/' }), 1)
  await cold.close()
  client = aPostClient({ timeoutMs: TIMEOUT_MS, maxSockets: POSTS, guard, lookup })
})

afterEach(async () => {
  await client.close()
  await endpoint.terminate()
})

const DELIVERED = { kind: 'delivered', status: 204 } as const

test('POSTs that were answered within their deadline have succeeded, although the worker stalled', async () => {
  const posts = Array.from({ length: POSTS }, () => client.post(aDelivery({ url: `http://127.0.0.1:${port}/` }), 2))
  await once(endpoint, 'message')
  stall(STALL_MS)
  expect(await Promise.all(posts)).toEqual(Array.from({ length: POSTS }, () => DELIVERED))
})

test('a POST that was not written before the worker stalled has the rest of its time', async () => {
  const post = client.post(aDelivery({ url: `http://client.example:${port}/` }), 2)
  await new Promise(setImmediate)
  stall(STALL_MS)
  expect(await post).toEqual(DELIVERED)
})

test('a first attempt whose lease ended while the worker stalled is sent under a renewed lease', async () => {
  const due = aDelivery({ url: `http://client.example:${port}/` })
  const nowMs = (): number => performance.now()
  let renewed = 0
  const postUnderLease = createPostUnderLease({
    startDeadline: () => startDeadline(TIMEOUT_MS),
    ...client,
    renew: async () => {
      renewed += 1
      return aReading(due, { trustedUntilMs: nowMs() + 250 })
    },
    nowMs,
  })
  const post = postUnderLease(due, 1, nowMs() + 250)
  await new Promise(setImmediate)
  stall(STALL_MS)
  expect(await post).toMatchObject({ delivery: due, outcome: DELIVERED })
  expect(renewed).toBe(1)
})

test('an endpoint that does not answer has failed, also after a stall', async () => {
  const silent = new Worker(
    `const { parentPort } = require('node:worker_threads')
     const server = require('node:net').createServer(() => parentPort.postMessage('connected'))
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`,
    { eval: true },
  )
  const [silentPort] = await once(silent, 'message')
  const due = aDelivery({ url: `http://127.0.0.1:${silentPort}/`, slot: 1, attempt: 1 })
  const postUnderLease = createPostUnderLease({
    startDeadline: () => startDeadline(TIMEOUT_MS),
    ...client,
    renew: async () => aReading(due),
    nowMs: () => performance.now(),
  })
  const beganMs = performance.now()
  const post = postUnderLease(due, 2, Infinity)
  await once(silent, 'message')
  stall(STALL_MS)
  const made = await post
  expect(made).toMatchObject({ kind: 'posted', outcome: { kind: 'unreachable', reason: 'timeout' } })
  // It has not hung: the endpoint had less than a second of a running process.
  expect(made.kind === 'posted' && made.durationMs).toBeLessThan(1_000)
  expect(performance.now() - beganMs).toBeGreaterThan(1_000)
  await silent.terminate()
})
