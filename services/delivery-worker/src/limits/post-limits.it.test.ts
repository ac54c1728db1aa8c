import type { Subscription } from '@switchhook/contracts'
import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { createHeldStore, createSubscriptionStore } from '@switchhook/store'
import { aSubscription, eventually, unverified, watchReadingDelay } from '@switchhook/testkit'

/** Permits of the worker that was killed expire, and so does the lease of what it was passing on. */
const PATIENT = { timeoutMs: 60_000 }
const ANSWER_MS = 60
const COUNT = 30

let surroundings: WorkerSurroundings
useWorkerSurroundings((started) => (surroundings = started))

/** The shortest time in which one request more than `count` began, in ms. */
function leastTimeBeyond(count: number, path: string): number {
  const times = surroundings.receiver
    .requests(path)
    .map(({ receivedAt }) => receivedAt)
    .toSorted((a, b) => a - b)
  return Math.min(...times.slice(count).map((time, i) => time - (times[i] ?? 0)))
}

test('while workers come and go, no limited subscription gets more than it allows, and all get everything; their neighbour too', async () => {
  const { receiver, redis } = surroundings
  const subscriptions = createSubscriptionStore(redis, unverified, {})
  const create = (path: string, limits: Partial<Subscription> = {}) =>
    subscriptions.create(aSubscription({ url: receiver.url(path), ...limits }))
  const neighbour = await create('/neighbour')
  const limited = new Map([
    ['/two-in-flight', await create('/two-in-flight', { maxInFlight: 2 })],
    ['/five-per-second', await create('/five-per-second', { maxPerSecond: 5 })],
  ])
  for (const path of limited.keys()) receiver.answer(path, { delayMs: ANSWER_MS })
  const broker = await surroundings.openBroker()
  const env = { DELIVERY_TIMEOUT: '5s', BREAKER_FAILURES: '1000' }
  const readingDelay = watchReadingDelay()
  const workers = await Promise.all([1, 2, 3].map(() => surroundings.startWorker(env)))
  const sent = new Map<string, Set<unknown>>()
  for (const [path, subscription] of limited) {
    const deliveries = Array.from({ length: COUNT }, () => aDeliveryTo(subscription))
    for (const delivery of deliveries) await broker.publishDelivery(delivery)
    sent.set(path, new Set(deliveries.map(({ deliveryId }) => deliveryId)))
  }
  for (let n = 0; n < COUNT; n++) await broker.publishDelivery(aDeliveryTo(neighbour))
  await eventually(() => expect(receiver.requests('/neighbour')).toHaveLength(COUNT), PATIENT)
  for (const path of limited.keys()) await receiver.waitFor(8, path)
  await workers[0]?.kill('SIGKILL')
  await surroundings.startWorker(env)
  await workers[1]?.kill('SIGTERM')
  const arrivedAt = (path: string) =>
    new Set<unknown>(receiver.requests(path).map(({ headers }) => headers['x-svc-delivery']))
  await eventually(() => {
    for (const [path, ids] of sent) expect(arrivedAt(path)).toEqual(ids)
  }, PATIENT)
  // Fewer are in flight than the limit if the next one begins only after an answer. Timers and clocks round.
  expect(leastTimeBeyond(2, '/two-in-flight')).toBeGreaterThanOrEqual(ANSWER_MS - 5)
  // The requests arrive a moment after they were written.
  expect(leastTimeBeyond(5, '/five-per-second')).toBeGreaterThanOrEqual(1_000 - readingDelay.maxMs())
  readingDelay.stop()
  const held = createHeldStore(redis)
  await eventually(async () => {
    for (const { id } of limited.values()) expect(await held.count(id)).toMatchObject({ count: 0, leased: 0 })
  }, PATIENT)
}, 150_000)
