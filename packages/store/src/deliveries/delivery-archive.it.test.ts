import { DELIVERY_STATES, factsOfState } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import { bodyKey, logKey, recordKey, redeliveryKey, senderKey, subscriptionsKey } from '../keys.ts'
import { execute, type Redis } from '../redis/redis.ts'
import type { DeliveryArchive } from './delivery-archive.ts'
import { ledgerOf, recordText, viewOf } from './delivery-record.ts'
import type { DeliveryStore } from './delivery-store.ts'
import {
  acknowledged,
  delivered,
  deliveryOf,
  failed,
  HOUR_MS,
  nextOf,
  refused,
  retention,
  type TestDeliveries,
  useDeliveries,
  waitingAfter,
} from './testing/deliveries.ts'

let fixture: TestDeliveries
let store: DeliveryStore & DeliveryArchive
let redis: Redis

useDeliveries((opened) => {
  fixture = opened
  ;({ store, redis } = fixture)
})

describe('redelivery', () => {
  test('an announced delivery is pending until its first attempt, and then like any other', async () => {
    const delivery = deliveryOf({ trial: 'test' })
    await store.announce(delivery)
    await store.announce(delivery)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ state: 'pending', slot: 0, attempts: [], run: 1 })
    expect(await store.isSettled(delivery)).toBe(false)
    await store.settle(delivery, delivered(delivery), acknowledged)
    await store.announce(delivery)
    const found = await store.find(delivery.deliveryId)
    expect(found).toMatchObject({ state: 'acknowledged', attempts: [delivered(delivery)] })
    expect(await fixture.ttlOf(recordKey(delivery.deliveryId))).toBeLessThanOrEqual(retention.finishedRetentionMs)
  })

  test('a redelivered test delivery is still a test delivery', async () => {
    const delivery = deliveryOf({ trial: 'test' })
    await store.park(delivery, failed(delivery), 'exhausted')
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })).toMatchObject({
      record: { trial: 'test', run: 2 },
    })
  })

  test('a redelivery is a new run from slot 0 that keeps id, body, attempts and the attempt counter', async () => {
    const delivery = deliveryOf({ slot: 7, attempt: 7 })
    await store.park(delivery, failed(delivery), 'exhausted')
    const redelivery = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
    expect(redelivery).toEqual({
      kind: 'begun',
      record: {
        ...delivery,
        run: 2,
        slot: 0,
        attempt: 8,
        state: 'pending',
        parkedReason: null,
        parkedAt: null,
        nextAttemptAt: null,
        attempts: [failed(delivery)],
      },
    })
  })

  test('once sent, it is pending, no longer listed, and cannot be begun again', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const again = await fixture.sendAgain(delivery)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ run: 2, slot: 0, state: 'pending', parkedAt: null })
    expect(await fixture.parked(delivery.subscriptionId, { limit: 10 })).toEqual({ items: [], nextCursor: null })
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })).toEqual({ kind: 'not-parked' })
    expect(await store.isSettled(again)).toBe(false)
  })

  test('the record has the URL and the time with which it was sent', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const redelivery = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
    const sent = { url: 'https://client.example/moved', firstDueAt: '2026-11-21T08:00:00.000Z' }
    if (redelivery.kind === 'begun') await store.redeliverySent({ ...redelivery.record, ...sent })
    expect(await store.find(delivery.deliveryId)).toMatchObject({ ...sent, state: 'pending' })
  })

  test('after a crash before publishing it is still parked and listed, and begins again as the same run', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const parked = await store.find(delivery.deliveryId)
    const { body: _body, ...listed } = parked ?? {}
    const begun = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
    expect(await store.find(delivery.deliveryId)).toEqual({ ...parked, isUnsent: true })
    expect((await fixture.parked(delivery.subscriptionId, { limit: 10 })).items).toEqual([listed])
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })).toEqual(begun)
    expect(begun).toMatchObject({ record: { run: 2 } })
  })

  test('after a crash between publishing and noting it, the worker completes the run', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const begun = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
    const again = { ...delivery, run: 2, attempt: 1 }
    expect(await store.isSettled(again)).toBe(false)
    await store.settle(again, delivered(again), acknowledged)
    if (begun.kind === 'begun') await store.redeliverySent(begun.record)
    expect(await store.find(delivery.deliveryId)).toMatchObject({
      run: 2,
      state: 'acknowledged',
      attempts: [{ run: 1 }, { run: 2 }],
    })
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })).toEqual({ kind: 'not-parked' })
    expect((await fixture.parked(delivery.subscriptionId, { limit: 10 })).items).toEqual([])
  })

  test('a delivery stays listed if a worker parks the new run before its publisher notes it as sent', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const begun = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
    const again = { ...delivery, run: 2, attempt: 1 }
    await store.park(again, refused(again), 'rejected')
    if (begun.kind === 'begun') await store.redeliverySent(begun.record)
    const page = await fixture.parked(delivery.subscriptionId, { limit: 10 })
    expect(page.items).toMatchObject([{ run: 2, state: 'parked', attempts: [{ run: 1 }, { run: 2 }] }])
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })).toMatchObject({
      record: { run: 3, attempt: 2 },
    })
  })

  test('of two senders that begin at the same time one sends; the other can once the first has given up', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const begin = (sender: string) => store.beginRedelivery(delivery.deliveryId, { sender })
    const [one, two] = await Promise.all([begin('a'), begin('b')])
    expect(one).toMatchObject({ record: { run: 2 } })
    expect(two).toEqual({ kind: 'busy' })
    await store.abandonRedelivery(delivery.deliveryId, { sender: 'b' })
    expect(await begin('b')).toEqual({ kind: 'busy' })
    await store.abandonRedelivery(delivery.deliveryId, { sender: 'a' })
    expect(await begin('b')).toEqual(one)
  })

  test('a dead sender blocks others for 15 seconds at most', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const begun = await store.beginRedelivery(delivery.deliveryId, { sender: 'dead' })
    const leftMs = await redis[execute]((commands) => commands.pttl(senderKey(delivery.deliveryId)))
    expect(leftMs).toBeGreaterThan(10_000)
    expect(leftMs).toBeLessThanOrEqual(15_000)
    await redis[execute]((commands) => commands.pexpire(senderKey(delivery.deliveryId), 1))
    await eventually(async () => {
      expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'another' })).toEqual(begun)
    })
  })

  test('a delivery that is parked again immediately can be redelivered immediately', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const begun = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
    if (begun.kind === 'begun') await store.redeliverySent(begun.record)
    const again = { ...delivery, run: 2, attempt: 1 }
    await store.park(again, refused(again), 'rejected')
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'b' })).toMatchObject({ record: { run: 3 } })
  })

  describe('a delivery that waits for its next attempt', () => {
    const sendable = { which: 'any', body: Buffer.from('{}') } as const

    async function begunWhileWaiting() {
      const delivery = deliveryOf()
      await store.settle(delivery, failed(delivery), waitingAfter(delivery))
      const begun = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' }, sendable)
      if (begun.kind !== 'begun') throw new Error(begun.kind)
      const next = nextOf(delivery)
      return { delivery, next, begun: begun.record, newRun: { ...delivery, run: 2, attempt: 1 } }
    }

    test('keeps its schedule if its sender dies before publishing', async () => {
      const { next } = await begunWhileWaiting()
      expect(await store.isSettled(next)).toBe(false)
      await store.settle(next, delivered(next), acknowledged)
      expect(await store.find(next.deliveryId)).toMatchObject({ state: 'acknowledged', run: 1 })
    })

    test('leaves its schedule once the new run is published', async () => {
      const { next, begun, newRun } = await begunWhileWaiting()
      await store.redeliverySent(begun, { sender: 'a' })
      expect(await store.find(next.deliveryId)).toMatchObject({ state: 'pending', run: 2, slot: 0, attempt: 1 })
      expect([await store.isSettled(next), await store.isSettled(newRun)]).toEqual([true, false])
    })

    test('leaves its schedule if a worker settles the new run before its publisher notes it', async () => {
      const { next, begun, newRun } = await begunWhileWaiting()
      await store.settle(newRun, delivered(newRun), acknowledged)
      await store.redeliverySent(begun, { sender: 'a' })
      expect(await store.isSettled(next)).toBe(true)
      expect(await store.find(next.deliveryId)).toMatchObject({ state: 'acknowledged', run: 2 })
    })

    test('can be sent by one sender at a time, and again immediately when it waits again', async () => {
      const { begun, newRun } = await begunWhileWaiting()
      const begin = (sender: string) => store.beginRedelivery(begun.deliveryId, { sender }, sendable)
      expect(await begin('b')).toEqual({ kind: 'busy' })
      await store.settle(newRun, failed(newRun), waitingAfter(newRun))
      await store.redeliverySent(begun, { sender: 'a' })
      expect(await begin('b')).toMatchObject({ kind: 'begun', record: { run: 3, attempt: 2 } })
    })
  })

  test.each(DELIVERY_STATES)(
    'a delivery that is %s can be begun with a body, unless an attempt is due',
    async (state) => {
      const delivery = deliveryOf()
      const { deliveryId } = delivery
      const view = viewOf(delivery, null, { state })
      await redis[execute]((commands) => commands.set(recordKey(deliveryId), recordText(ledgerOf(view), view)))
      const sendable = { which: 'any', body: Buffer.from('{}') } as const
      const { kind } = await store.beginRedelivery(deliveryId, { sender: 'a' }, sendable)
      expect(kind).toBe(factsOfState(state).next === 'due' ? 'not-parked' : 'begun')
    },
  )

  test('what a request began from is known for days, but once its answer is stored only for the runs that it may have in progress', async () => {
    const [answered, sent] = [deliveryOf(), deliveryOf()]
    for (const delivery of [answered, sent]) await store.park(delivery, refused(delivery), 'rejected')
    const by = { sender: 'request', isRequest: true }
    for (const { deliveryId } of [answered, sent]) {
      const redelivery = await store.beginRedelivery(deliveryId, by)
      if (redelivery.kind !== 'begun') throw new Error(redelivery.kind)
      await store.redeliverySent(redelivery.record, by)
    }
    await store.redeliveryAnswered(answered.deliveryId, by.sender)
    const keptMs = (delivery: typeof sent) => fixture.ttlOf(redeliveryKey(delivery.deliveryId, by.sender))
    expect(await keptMs(answered)).toBeLessThanOrEqual(10 * 60_000)
    expect(await keptMs(sent)).toBeGreaterThan(24 * HOUR_MS)
    await redis[execute]((commands) => commands.pexpire(redeliveryKey(sent.deliveryId, by.sender), HOUR_MS))
    expect(await store.begunFrom(sent.deliveryId, by.sender)).toBe(1)
    expect(await keptMs(sent)).toBeGreaterThan(24 * HOUR_MS)
  })

  test('a delivery that is unknown, not parked or without a body cannot be begun', async () => {
    const unknown = deliveryOf()
    expect(await store.beginRedelivery(unknown.deliveryId, { sender: 'a' })).toEqual({ kind: 'unknown' })
    const settled = deliveryOf()
    await store.settle(settled, failed(settled), waitingAfter(settled))
    expect(await store.beginRedelivery(settled.deliveryId, { sender: 'a' })).toEqual({ kind: 'not-parked' })
    const bodiless = deliveryOf()
    await store.park(bodiless, refused(bodiless), 'rejected')
    await redis[execute]((commands) => commands.del(bodyKey(bodiless.deliveryId)))
    expect(await store.beginRedelivery(bodiless.deliveryId, { sender: 'a' })).toEqual({ kind: 'without-body' })
  })
})

test('deliveries that are not fanned out are listed up to the limit of the tenant, too', async () => {
  const subscriptions = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [n, '{}']))
  await redis[execute]((commands) => commands.hset(subscriptionsKey('many'), subscriptions))
  const lists = ['many', 'few'].map(async (tenant) => {
    const { subscriptionId } = deliveryOf()
    for (let n = 0; n < 12; n++) await store.list(deliveryOf({ tenant, subscriptionId }))
    return redis[execute]((commands) => commands.zcard(logKey(subscriptionId)))
  })
  expect(await Promise.all(lists)).toEqual([10, 12])
})

test('a delivery that is listed keeps the lifetime of its list; a new list expires after days', async () => {
  const [one, two] = [deliveryOf(), deliveryOf()]
  await redis[execute]((commands) => commands.zadd(logKey(one.subscriptionId), 1, 'older'))
  await redis[execute]((commands) => commands.pexpire(logKey(one.subscriptionId), HOUR_MS))
  for (const delivery of [one, two]) await store.list(delivery)
  expect(await fixture.ttlOf(logKey(one.subscriptionId))).toBeLessThanOrEqual(HOUR_MS)
  const ttlMs = await fixture.ttlOf(logKey(two.subscriptionId))
  expect([ttlMs > 7 * 24 * HOUR_MS, ttlMs <= 8 * 24 * HOUR_MS]).toEqual([true, true])
})
