import { type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'

const EVENTS = 120
/** Slow but successful: well within the delivery timeout of the test stack (1 s). */
const SLOW_MS = 600
/** The default `SUBSCRIPTION_CONCURRENCY` times the two workers of the test stack. */
const MAX_AT_ONCE = 20

let acme: Client
let slow: Receiver
let quick: Receiver
let subscriptions: Subscription[]

beforeAll(async () => {
  ;[acme, slow, quick] = await Promise.all([openClient('acme'), startReceiver(), startReceiver()])
  slow.answer('/slow', { status: 200, delayMs: SLOW_MS })
  subscriptions = [await acme.subscribe(slow.url('/slow')), await acme.subscribe(quick.url('/quick'))]
})

afterAll(async () => {
  for (const { id } of subscriptions) await acme.unsubscribe(id)
  await Promise.all([slow.close(), quick.close()])
})

test('a slow subscriber with a backlog is limited to its share, loses nothing, and delays no other subscriber', async () => {
  const publishedAt = new Map<string, number>()
  for (let n = 0; n < EVENTS; n++) publishedAt.set(await publishEvent(), Date.now())
  const markerOf = (request: Parameters<typeof envelopeOf>[0]): string => String(envelopeOf(request).data['marker'])

  const quickOnes = await quick.waitFor(EVENTS, '/quick')
  const latencies = quickOnes.map((request) => request.receivedAt - (publishedAt.get(markerOf(request)) ?? 0))
  // Behind a blocked worker it would take at least one slow answer. A busy machine may delay a few.
  expect(latencies.filter((ms) => ms >= SLOW_MS).length).toBeLessThan(EVENTS / 10)

  const slowOnes = await slow.waitFor(EVENTS, '/slow', { timeoutMs: 25_000 })
  // First: an attempt that a busy machine delayed beyond the timeout is made again, and shows here as a second attempt.
  expect(slowOnes.map(({ headers }) => headers['x-svc-attempt'])).toEqual(Array(EVENTS).fill('1'))
  expect(new Set(slowOnes.map(markerOf)).size).toBe(EVENTS)
  const arrivals = slowOnes.map(({ receivedAt }) => receivedAt).toSorted((a, b) => a - b)
  const crowded = arrivals.filter(
    (at, n) => (arrivals[n + MAX_AT_ONCE] ?? Number.POSITIVE_INFINITY) - at < SLOW_MS - 20,
  )
  expect(crowded).toEqual([])
})
