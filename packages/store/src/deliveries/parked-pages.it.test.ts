import { newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import { bodyKey, parkedKey, recordKey } from '../keys.ts'
import { execute, type Redis } from '../redis/redis.ts'
import type { DeliveryArchive } from './delivery-archive.ts'
import type { DeliveryStore } from './delivery-store.ts'
import { deliveryOf, HOUR_MS, refused, retention, type TestDeliveries, useDeliveries } from './testing/deliveries.ts'

let fixture: TestDeliveries
let store: DeliveryStore & DeliveryArchive
let redis: Redis

useDeliveries((opened) => {
  fixture = opened
  ;({ store, redis } = fixture)
})

describe('the list of parked deliveries', () => {
  async function parkMany(subscriptionId: SubscriptionId, count: number): Promise<string[]> {
    const deliveries = Array.from({ length: count }, () => deliveryOf({ subscriptionId }))
    for (const delivery of deliveries) await store.park(delivery, refused(delivery), 'rejected')
    return deliveries.map(({ deliveryId }) => deliveryId).toReversed()
  }

  async function pages(subscriptionId: SubscriptionId, limit: number): Promise<string[][]> {
    const found: string[][] = []
    let cursor: string | null = null
    do {
      const page = await fixture.parked(subscriptionId, { limit, ...(cursor !== null && { cursor }) })
      found.push(page.items.map(({ deliveryId }) => deliveryId))
      cursor = page.nextCursor
    } while (cursor !== null)
    return found
  }

  test('is paged newest first, and the last page has no cursor', async () => {
    const subscriptionId = newSubscriptionId()
    const ids = await parkMany(subscriptionId, 6)
    expect(await pages(subscriptionId, 4)).toEqual([ids.slice(0, 4), ids.slice(4)])
    expect(await pages(subscriptionId, 3)).toEqual([ids.slice(0, 3), ids.slice(3)])
    expect(await pages(subscriptionId, 10)).toEqual([ids])
    expect(await pages(newSubscriptionId(), 10)).toEqual([[]])
  })

  test('is not shifted by deliveries that are parked between pages', async () => {
    const subscriptionId = newSubscriptionId()
    const ids = await parkMany(subscriptionId, 4)
    const first = await fixture.parked(subscriptionId, { limit: 2 })
    await parkMany(subscriptionId, 3)
    const second = await fixture.parked(subscriptionId, { limit: 2, cursor: first.nextCursor ?? '' })
    expect([...first.items, ...second.items].map(({ deliveryId }) => deliveryId)).toEqual(ids)
    expect(second.nextCursor).toBeNull()
  })

  test('lists each of many deliveries that are parked at the same moment once', async () => {
    const subscriptionId = newSubscriptionId()
    const deliveries = Array.from({ length: 50 }, () => deliveryOf({ subscriptionId }))
    await Promise.all(deliveries.map((delivery) => store.park(delivery, refused(delivery), 'rejected')))
    const listed = (await pages(subscriptionId, 7)).flat()
    expect(listed.toSorted()).toEqual(deliveries.map(({ deliveryId }) => String(deliveryId)).toSorted())
  })

  test('skips stale entries, and its pages stay full', async () => {
    const subscriptionId = newSubscriptionId()
    const ids = await parkMany(subscriptionId, 9)
    // Three records in a row are gone, so that one read of the list finds no delivery at all.
    for (const id of ids.slice(2, 5)) await redis[execute]((commands) => commands.del(`sh:{${id}}:record`))
    const left = [...ids.slice(0, 2), ...ids.slice(5)]
    expect(await pages(subscriptionId, 2)).toEqual([left.slice(0, 2), left.slice(2, 4), left.slice(4)])
  })

  test('lists a delivery that is parked twice once, with the first time', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const before = await fixture.parked(delivery.subscriptionId, { limit: 10 })
    await store.park(delivery, refused(delivery), 'rejected')
    expect(await fixture.parked(delivery.subscriptionId, { limit: 10 })).toEqual(before)
    const { body: _body, ...listed } = (await store.find(delivery.deliveryId)) ?? {}
    expect(before.items).toEqual([listed])
  })

  test('is read without the bodies', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    // Reading this list as a body would fail with WRONGTYPE.
    await redis[execute]((commands) => commands.del(bodyKey(delivery.deliveryId)))
    await redis[execute]((commands) => commands.lpush(bodyKey(delivery.deliveryId), 'x'))
    const { items } = await fixture.parked(delivery.subscriptionId, { limit: 10 })
    expect(items).toMatchObject([{ deliveryId: delivery.deliveryId, state: 'parked' }])
    expect(items[0]).not.toHaveProperty('body')
  })

  test('leaves out a delivery that a crash left half parked, until it is parked again', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    // A crash in the middle of parking leaves it listed, but without a record.
    await redis[execute]((commands) => commands.del(recordKey(delivery.deliveryId), bodyKey(delivery.deliveryId)))
    expect(await store.isSettled(delivery)).toBe(false)
    expect(await fixture.parked(delivery.subscriptionId, { limit: 10 })).toEqual({ items: [], nextCursor: null })
    await store.park(delivery, refused(delivery), 'rejected')
    expect((await fixture.parked(delivery.subscriptionId, { limit: 10 })).items).toHaveLength(1)
  })

  test('keeps the place of a delivery that is parked again', async () => {
    const subscriptionId = newSubscriptionId()
    const [older, newer] = [deliveryOf({ subscriptionId }), deliveryOf({ subscriptionId })]
    for (const delivery of [older, newer, older]) await store.park(delivery, refused(delivery), 'rejected')
    expect(await pages(subscriptionId, 10)).toEqual([[newer.deliveryId, older.deliveryId]])
  })

  test('stays in order even if the clock of Redis goes back', async () => {
    const subscriptionId = newSubscriptionId()
    const ids = await parkMany(subscriptionId, 1)
    const inAnHour = String((Date.now() + HOUR_MS) * 1_000)
    await redis[execute]((commands) => commands.zadd(parkedKey(subscriptionId), inAnHour, `${ids[0]}:1`))
    expect(await pages(subscriptionId, 1)).toEqual([ids])
    const later = await parkMany(subscriptionId, 2)
    expect(await pages(subscriptionId, 1)).toEqual([...later, ...ids].map((id) => [id]))
  })

  test('drops entries older than the retention', async () => {
    const subscriptionId = newSubscriptionId()
    const longAgo = String((Date.now() - retention.parkedRetentionMs - HOUR_MS) * 1_000)
    await redis[execute]((commands) =>
      commands.zadd(parkedKey(subscriptionId), longAgo, `${deliveryOf().deliveryId}:1`),
    )
    const ids = await parkMany(subscriptionId, 1)
    const listed = await redis[execute]((commands) => commands.zrange(parkedKey(subscriptionId), '0', '-1'))
    expect(listed).toEqual(ids.map((id) => `${id}:1`))
  })

  test.each([
    '',
    'x',
    'LWluZg',
    Buffer.from('(1').toString('base64url'),
    Buffer.from('12345678901234567').toString('base64url'),
  ])('rejects the cursor %j as an invalid request', async (cursor) => {
    const page = fixture.parked(newSubscriptionId(), { limit: 10, cursor })
    await expect(page).rejects.toMatchObject({ code: 'invalid-request', extra: { errors: [{ pointer: '/cursor' }] } })
  })
})
