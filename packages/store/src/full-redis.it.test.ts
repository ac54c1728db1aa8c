import { randomUUID } from 'node:crypto'
import { type InstallationId, type PlatformEvent, Unavailable } from '@switchhook/contracts'
import {
  aDelivery,
  anEvent,
  aSubscription,
  collect,
  eventually,
  silentLog,
  type TestRedis,
  UNLIMITED,
  unscheduled,
  unverified,
  useRedis,
} from '@switchhook/testkit'
import { createBreakerStore } from './breaker/breaker-store.ts'
import { createDeliveryArchive } from './deliveries/delivery-archive.ts'
import { createDeliveryStore } from './deliveries/delivery-store.ts'
import { createHeldVisits } from './deliveries/held-visits.ts'
import { postOf } from './deliveries/testing/deliveries.ts'
import { createHeldStore } from './held/held-store.ts'
import { createInstallationStore } from './installation/installation-store.ts'
import { INSTALLATION_KEY } from './keys.ts'
import { execute, openRedis, type Redis } from './redis/redis.ts'
import { createIdempotencyStore } from './requests/idempotency-store.ts'
import { createOutbox } from './state/outbox.ts'
import { createStateStore } from './state/state-store.ts'
import { createTimerStore } from './state/timer-store.ts'
import { createMatching } from './subscriptions/matching.ts'
import { createSubscriptionStore } from './subscriptions/subscription-store.ts'

const HOUR_MS = 3_600_000
const retention = { finishedRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled }

let server: TestRedis
let redis: Redis

useRedis(openRedis, (opened) => ({ server, redis } = opened))
afterEach(async () => {
  await server.limitMemory(0)
  await server.flush()
})

const fill = (): Promise<void> => server.limitMemory(1)

const commit = (events: PlatformEvent[]): Promise<unknown> =>
  createStateStore(redis).commit('acme', { records: [], events, timers: [{ id: 't', dueInMs: 0, payload: {} }] })

test('a full Redis still drains the outbox: a relay claims, sends and removes events', async () => {
  const events = [anEvent(), anEvent(), anEvent()]
  await commit(events)
  const [first] = await createOutbox(redis).claim(1)
  await createOutbox(redis).sent(first === undefined ? [] : [first])
  await fill()
  const outbox = createOutbox(redis)
  const claimed = await outbox.claim(10)
  expect(claimed.map(({ event }) => event.eventId)).toEqual(events.slice(1).map(({ eventId }) => eventId))
  await outbox.sent(claimed)
  expect(await outbox.depth()).toBe(0)
})

test('a full Redis drains an outbox that no relay has read before', async () => {
  const event = anEvent()
  await commit([event])
  await fill()
  const outbox = createOutbox(redis)
  const claimed = await outbox.claim(10)
  expect(claimed.map(({ event: { eventId } }) => eventId)).toEqual([event.eventId])
  await outbox.sent(claimed)
  expect(await outbox.depth()).toBe(0)
})

test('a full Redis still removes timers that were handled', async () => {
  await commit([])
  const timers = createTimerStore(redis)
  const due = await timers.claimDue(1, HOUR_MS)
  await fill()
  await timers.done(due)
  await server.limitMemory(0)
  await server.set('sh:probe', '1')
  const left = await redis[execute]((commands) => commands.keys('sh:*:timers*'))
  expect(left).toEqual([expect.stringMatching(/:timers:clock$/)])
})

test('a full Redis still deletes and disables subscriptions, but creates none', async () => {
  const store = createSubscriptionStore(redis, unverified, {})
  const [deleted, disabled] = [await store.create(aSubscription()), await store.create(aSubscription())]
  await fill()
  expect(await store.remove('acme', deleted.id)).toBe(true)
  expect(await store.revise('acme', disabled.id, (present) => ({ ...present, enabled: false }))).toMatchObject({
    enabled: false,
  })
  expect(await createMatching(redis, unverified)('acme', 'call.status')).toEqual([])
  expect(await collect(store.all('acme'))).toEqual([{ ...disabled, enabled: false }])
  await expect(store.create(aSubscription())).rejects.toThrow(Unavailable)
})

test('a full Redis still lets go of deliveries that are no longer held', async () => {
  const delivery = aDelivery()
  const [held, visits] = [createHeldStore(redis), createHeldVisits(redis)]
  const next = { token: 'a', postponed: 0 }
  const settlement = { state: 'held', slot: 0, next, dueInMs: 0, visitInMs: HOUR_MS } as const
  await createDeliveryStore(redis, retention, UNLIMITED, unverified).settle(delivery, null, settlement)
  await fill()
  await held.visitSoon(delivery)
  const [visit] = await visits.claimDue(1, HOUR_MS)
  expect(visit).toMatchObject({ tenant: delivery.tenant, subscriptionId: delivery.subscriptionId })
  await held.forget([{ ...delivery, token: 'a' }])
  await held.remove(delivery.subscriptionId, 'held', await held.due(delivery.subscriptionId, { most: 1 }))
  if (visit !== undefined) await visits.finish(visit, null)
  expect(await redis[execute]((commands) => commands.keys('sh:{[^t]*:held*'))).toEqual([])
})

test('a full Redis still closes a breaker and releases claims', async () => {
  const delivery = aDelivery()
  const breakers = createBreakerStore(redis, { failures: 1, cooldownMs: HOUR_MS })
  const idempotency = createIdempotencyStore(redis, { leaseMs: HOUR_MS, retentionMs: HOUR_MS })
  const archive = createDeliveryArchive(redis)
  await createDeliveryStore(redis, retention, UNLIMITED, unverified).park(
    delivery,
    postOf(delivery, 'answered', 410),
    'rejected',
  )
  await archive.beginRedelivery(delivery.deliveryId, { sender: 'a' })
  await breakers.recordFailure(delivery, undefined)
  const begun = await idempotency.begin('scope', 'fingerprint')
  await fill()
  await breakers.recordAnswer(delivery)
  expect(await breakers.health(delivery)).toMatchObject({ state: 'closed' })
  if (begun.kind === 'new') await idempotency.release(begun.claim)
  await archive.abandonRedelivery(delivery.deliveryId, { sender: 'a' })
  await server.limitMemory(0)
  expect(await idempotency.begin('scope', 'fingerprint')).toMatchObject({ kind: 'new' })
  expect(await archive.beginRedelivery(delivery.deliveryId, { sender: 'b' })).toMatchObject({ kind: 'begun' })
})

test('a full Redis still replays the answer to an Idempotency-Key, but accepts no new request', async () => {
  const limit = { requestsPerClient: 10, forgotten: () => {} }
  const idempotency = createIdempotencyStore(redis, { leaseMs: HOUR_MS, retentionMs: HOUR_MS }, limit)
  const begun = await idempotency.begin('scope', 'fingerprint', 'client')
  if (begun.kind !== 'new') throw new Error(begun.kind)
  await idempotency.finish(begun.claim, { status: 202 })
  await fill()
  expect(await idempotency.begin('scope', 'fingerprint', 'client')).toEqual({ kind: 'replay', answer: { status: 202 } })
  expect(await idempotency.begin('scope', 'another', 'client')).toEqual({ kind: 'mismatch' })
  await expect(idempotency.begin('new', 'fingerprint', 'client')).rejects.toThrow(Unavailable)
})

test('a full Redis still forgets idempotency keys beyond a lowered limit', async () => {
  const times = { leaseMs: HOUR_MS, retentionMs: HOUR_MS }
  const unlimited = createIdempotencyStore(redis, times, { requestsPerClient: 1_000, forgotten: () => {} })
  for (const scope of ['a', 'b', 'c']) {
    const begun = await unlimited.begin(scope, 'fingerprint', 'client')
    if (begun.kind === 'new') await unlimited.finish(begun.claim, { status: 202 })
  }
  await fill()
  let forgotten = 0
  const lowered = createIdempotencyStore(redis, times, {
    requestsPerClient: 1,
    forgotten: (count) => (forgotten += count),
  })
  await expect(lowered.begin('new', 'fingerprint', 'client')).rejects.toThrow(Unavailable)
  expect(forgotten).toBe(2)
  expect(await lowered.begin('c', 'fingerprint', 'client')).toMatchObject({ kind: 'replay' })
  expect(await redis[execute]((commands) => commands.keys('sh:{i:*'))).toHaveLength(1)
})

test("a full Redis still stores the id of an installation and an operator's decision", async () => {
  await fill()
  const installation = createInstallationStore(redis)
  const [id, other] = [randomUUID() as InstallationId, randomUUID() as InstallationId]
  const created = await installation.establish(id)
  expect(created).toMatchObject({ id })
  expect(await installation.establish(other)).toEqual(created)
  await installation.decide(other, 'adopted')
  expect((await installation.read())?.rulings).toEqual(new Map([[other, 'adopted']]))
  // `flush` keeps this key.
  await redis[execute]((commands) => commands.del(INSTALLATION_KEY))
})

/** On Unavailable the worker's consumer pauses and keeps the message (consumer.it.test.ts in packages/messaging). */
test.each(['acknowledged', 'withdrawn', 'waiting', 'parked'] as const)(
  'a full Redis settles nothing halfway: settling as %s is Unavailable, and succeeds once there is memory',
  async (state) => {
    const store = createDeliveryStore(redis, retention, UNLIMITED, unverified)
    const archive = createDeliveryArchive(redis)
    const delivery = aDelivery()
    const settle = (): Promise<unknown> => {
      if (state === 'parked') return store.park(delivery, postOf(delivery, 'answered', 410), 'rejected')
      const next =
        state === 'waiting'
          ? { state, slot: 1, nextAttemptAt: '2026-11-20T12:00:11.000Z', next: { token: 'a', postponed: 0 } }
          : { state }
      return store.settle(delivery, postOf(delivery, 'delivered', 204), next)
    }
    await fill()
    await expect(settle()).rejects.toThrow(Unavailable)
    expect(await store.isSettled(delivery)).toBe(false)
    expect(await redis[execute]((commands) => commands.keys('sh:*'))).toEqual([])
    await server.limitMemory(0)
    await settle()
    expect(await store.isSettled(delivery)).toBe(true)
    expect(await archive.find(delivery.deliveryId)).toMatchObject({ state })
  },
)

test('a service that drains Redis starts while it is full; the others wait until it accepts writes', async () => {
  await fill()
  const draining = await openRedis({ url: server.redisUrl, log: silentLog, name: 'test', mayBeFull: true })
  expect(draining.isReady()).toBe(true)
  let isOpen = false
  const waiting = openRedis({ url: server.redisUrl, log: silentLog, name: 'test' }).then((opened) => {
    isOpen = true
    return opened
  })
  const recovering = draining.ready()
  expect(await Promise.race([recovering.then(() => 'ready'), waitForProbe()])).toBe('refused')
  expect(isOpen).toBe(false)
  await server.limitMemory(0)
  await recovering
  await eventually(() => expect(isOpen).toBe(true))
  await Promise.all([draining.close(), waiting.then((opened) => opened.close())])
})

/** Resolves once Redis has refused a write for lack of memory. */
async function waitForProbe(): Promise<string> {
  await expect(redis[execute]((commands) => commands.set('sh:probe', ''))).rejects.toThrow(Unavailable)
  return 'refused'
}
