import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, type ReceivedRequest, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, type Delivery, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'

/** The backlog of the slow subscriber. */
const EVENTS = 120
const QUICK_EVENTS = 5
/** Slow but successful: well within the delivery timeout of the test stack (3 s). */
const SLOW_MS = 600
/** The default `SUBSCRIPTION_CONCURRENCY` times the two workers of the test stack. */
const MAX_AT_ONCE = 20

let acme: Client
let slow: Receiver
let quick: Receiver
let subscriptions: Subscription[]
/** Requests of the slow subscriber that are not answered: now, and at most. */
let open = 0
let mostOpen = 0

beforeAll(async () => {
  ;[acme, slow, quick] = await Promise.all([openClient('acme'), startReceiver(), startReceiver()])
  slow.answer('/slow', async () => {
    mostOpen = Math.max(mostOpen, ++open)
    await sleep(SLOW_MS)
    open -= 1
    return { status: 200 }
  })
  subscriptions = [
    await acme.subscribe(slow.url('/slow'), ['call.status']),
    await acme.subscribe(quick.url('/quick'), ['agent.status']),
  ]
})

afterAll(async () => {
  for (const { id } of subscriptions) await acme.unsubscribe(id)
  await Promise.all([slow.close(), quick.close()])
})

test('a slow subscriber with a backlog is limited to its share, loses nothing, and delays no other subscriber', async () => {
  await Promise.all(Array.from({ length: EVENTS }, () => publishEvent()))
  // One by one, so that each begins when the workers have their share of the backlog.
  for (let n = 1; n <= QUICK_EVENTS; n++) {
    await publishEvent({ eventType: 'agent.status' })
    await quick.waitFor(n, '/quick')
  }
  // A blocked worker would have begun the whole backlog before.
  expect(slow.requests('/slow').length).toBeLessThan(EVENTS)

  const markerOf = (request: ReceivedRequest): string => String(envelopeOf(request).data['marker'])
  const pending = `/webhooks/subscriptions/${subscriptions[0]?.id}/deliveries?state=pending`
  const slowOnes = await eventually(async () => {
    expect((await acme.request<{ items: Delivery[] }>('GET', pending)).body.items).toEqual([])
    const requests = slow.requests('/slow')
    expect(new Set(requests.map(markerOf)).size).toBe(EVENTS)
    return requests
  })
  // A busy machine may delay an answer beyond the timeout. Then its attempt fails and another follows.
  const attempts = slowOnes.map((request) => [markerOf(request), request.headers['x-svc-attempt']].join(' '))
  expect(new Set(attempts).size).toBe(attempts.length)
  // Each attempt that failed gave its turn away before its answer.
  expect(mostOpen).toBeLessThanOrEqual(MAX_AT_ONCE + slowOnes.length - EVENTS)
})
