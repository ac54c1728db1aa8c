import { Unavailable } from '@switchhook/contracts'
import { bodyKey, parkedKey, recordKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import type { DeliveryArchive } from './delivery-archive.ts'
import type { DeliveryStore } from './delivery-store.ts'
import {
  acknowledged,
  delivered,
  deliveryOf,
  failed,
  NEXT_AT,
  nextOf,
  openDeliveries,
  postOf,
  refused,
  retention,
  type TestDeliveries,
  waiting,
} from './testing/deliveries.ts'

let fixture: TestDeliveries
let store: DeliveryStore & DeliveryArchive
let redis: Redis

beforeAll(async () => {
  fixture = await openDeliveries()
  ;({ store, redis } = fixture)
})
afterAll(() => fixture.close())
beforeEach(() => fixture.server.flush())

describe('the ledger', () => {
  test('an unknown delivery is not settled', async () => {
    const delivery = deliveryOf()
    expect(await store.isSettled(delivery)).toBe(false)
    expect(await store.find(delivery.deliveryId)).toBeUndefined()
  })

  test('a failed slot is settled, the next one is not', async () => {
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waiting)
    expect(await store.isSettled(delivery)).toBe(true)
    expect(await store.isSettled(nextOf(delivery))).toBe(false)
  })

  test('a settled slot settles all slots before it', async () => {
    const delivery = deliveryOf({ slot: 3, attempt: 3 })
    await store.settle(delivery, failed(delivery), waiting)
    for (const slot of [0, 1, 2, 3]) expect(await store.isSettled({ ...delivery, slot })).toBe(true)
    expect(await store.isSettled({ ...delivery, slot: 4 })).toBe(false)
  })

  test.each([acknowledged, { state: 'withdrawn' } as const])(
    'once $state, every slot of the run is settled',
    async (next) => {
      const delivery = deliveryOf()
      await store.settle(delivery, null, next)
      for (const slot of [0, 1, 7]) expect(await store.isSettled({ ...delivery, slot })).toBe(true)
      expect(await store.isSettled({ ...delivery, run: 2 })).toBe(false)
    },
  )

  test('once parked, every slot of the run is settled', async () => {
    const delivery = deliveryOf({ slot: 2, attempt: 2 })
    await store.park(delivery, refused(delivery), 'rejected')
    for (const slot of [0, 2, 3]) expect(await store.isSettled({ ...delivery, slot })).toBe(true)
  })

  test('every message of an earlier run is settled', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const again = await fixture.sendAgain(delivery)
    for (const slot of [0, 1, 7]) expect(await store.isSettled({ ...delivery, slot })).toBe(true)
    expect(await store.isSettled(again)).toBe(false)
    await store.settle({ ...delivery, slot: 1 }, failed(delivery), waiting)
    expect(await store.find(delivery.deliveryId)).toMatchObject({
      run: 2,
      state: 'pending',
      attempts: [refused(delivery)],
    })
  })

  test('settling a slot twice changes nothing', async () => {
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waiting)
    const before = await store.find(delivery.deliveryId)
    await store.settle(delivery, postOf(delivery, 'timeout', null), {
      ...waiting,
      nextAttemptAt: '2027-01-01T00:00:00.000Z',
    })
    expect(await store.find(delivery.deliveryId)).toEqual(before)
  })

  test('of two POSTs of one slot the acknowledged one counts, so no further retry is made', async () => {
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waiting)
    await store.settle(delivery, delivered(delivery), acknowledged)
    expect(await store.isSettled(nextOf(delivery))).toBe(true)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ state: 'acknowledged', nextAttemptAt: null })
  })

  test('an acknowledged delivery stays acknowledged, whatever a second worker records', async () => {
    const delivery = deliveryOf()
    const later = nextOf(delivery)
    await store.settle(delivery, delivered(delivery), acknowledged)
    await store.settle(delivery, failed(delivery), waiting)
    await store.settle(later, failed(later), waiting)
    await store.park(later, refused(later), 'rejected')
    const found = await store.find(delivery.deliveryId)
    expect(found).toMatchObject({ state: 'acknowledged', attempts: [delivered(delivery)] })
    expect(await redis[run]((commands) => commands.zcard(parkedKey(delivery.subscriptionId)))).toBe(0)
  })

  test('of two workers with the same slot, the one with a 2xx wins over the one that parked', async () => {
    const last = deliveryOf({ slot: 7, attempt: 7 })
    await store.park(last, failed(last), 'exhausted')
    await store.settle(last, delivered(last), acknowledged)
    expect(await store.find(last.deliveryId)).toMatchObject({
      state: 'acknowledged',
      parkedReason: null,
      parkedAt: null,
      attempts: [failed(last), delivered(last)],
    })
    expect(await redis[run]((commands) => commands.zcard(parkedKey(last.subscriptionId)))).toBe(0)
    expect(await store.beginRedelivery(last.deliveryId, { sender: 'a' })).toEqual({ kind: 'not-parked' })
    for (const key of [recordKey, bodyKey]) {
      const ttl = await fixture.ttlOf(key(last.deliveryId))
      expect(ttl).toBeGreaterThan(0)
      expect(ttl).toBeLessThanOrEqual(retention.settledRetentionMs)
    }
  })

  test('a parked delivery stays parked unless the same run succeeds', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    await store.settle(nextOf(delivery), failed(nextOf(delivery)), waiting)
    await store.settle(delivery, null, { state: 'withdrawn' })
    expect((await store.parked(delivery.subscriptionId, { limit: 10 })).items).toMatchObject([{ state: 'parked' }])
    await fixture.sendAgain(delivery)
    await store.settle(delivery, delivered(delivery), acknowledged)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ run: 2, state: 'pending' })
  })

  test('a malformed record is an error, not an unknown delivery', async () => {
    const delivery = deliveryOf()
    const key = recordKey(delivery.deliveryId)
    await redis[run]((commands) => commands.set(key, 'gibberish'))
    await expect(store.isSettled(delivery)).rejects.toThrow(`${key} holds no record`)
    const settling = store.settle(delivery, delivered(delivery), acknowledged)
    await expect(settling).rejects.toThrow(`UNREADABLE ${key} holds no record of a delivery`)
    await expect(settling).rejects.not.toBeInstanceOf(Unavailable)
  })

  test('many workers that settle the same slot at once record one attempt', async () => {
    const delivery = deliveryOf()
    await Promise.all(Array.from({ length: 20 }, () => store.settle(delivery, failed(delivery), waiting)))
    expect((await store.find(delivery.deliveryId))?.attempts).toEqual([failed(delivery)])
  })
})

describe('the record', () => {
  test('a waiting delivery has its attempts, its next slot and the time of it', async () => {
    const first = deliveryOf()
    const second = nextOf(first)
    await store.settle(first, failed(first), waiting)
    await store.settle(second, postOf(second, 'timeout', null), waiting)
    const { body: _body, ...meta } = first
    expect(await store.find(first.deliveryId)).toEqual({
      ...meta,
      slot: 2,
      attempt: 2,
      state: 'waiting',
      parkedReason: null,
      parkedAt: null,
      nextAttemptAt: NEXT_AT,
      attempts: [failed(first), postOf(second, 'timeout', null)],
      body: null,
    })
  })

  test('a slot used up by a cool-down adds no attempt', async () => {
    const delivery = deliveryOf({ slot: 1, attempt: 1 })
    await store.settle(delivery, null, waiting)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ slot: 2, attempt: 1, attempts: [] })
  })

  test('a delivery without a tenant and a URL with any characters are stored unchanged', async () => {
    const delivery = deliveryOf({ tenant: null, url: 'https://client.example/a%20b?c="d"&e=\\n%s{}' })
    await store.settle(delivery, delivered(delivery), acknowledged)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ tenant: null, url: delivery.url })
  })

  test('a parked delivery keeps everything, and its body byte for byte', async () => {
    const first = deliveryOf({ slot: 6, attempt: 6 })
    const last = nextOf(first)
    await store.settle(first, failed(first), waiting)
    await store.park(last, failed(last), 'exhausted')
    const { body, ...meta } = last
    const found = await store.find(last.deliveryId)
    expect(found).toEqual({
      ...meta,
      attempt: 8,
      state: 'parked',
      parkedReason: 'exhausted',
      parkedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      nextAttemptAt: null,
      attempts: [failed(first), failed(last)],
      body,
    })
    expect(Math.abs(Date.parse(found?.parkedAt ?? '') - Date.now())).toBeLessThan(60_000)
  })

  test('each state has its own retention', async () => {
    const close = (ttl: number, wanted: number) => {
      expect(ttl).toBeLessThanOrEqual(wanted)
      expect(ttl).toBeGreaterThan(wanted - 60_000)
    }
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waiting)
    close(await fixture.ttlOf(recordKey(delivery.deliveryId)), retention.waitingRetentionMs)
    const last = nextOf(delivery)
    await store.park(last, failed(last), 'exhausted')
    for (const key of [recordKey, bodyKey])
      close(await fixture.ttlOf(key(delivery.deliveryId)), retention.parkedRetentionMs)
    close(await fixture.ttlOf(parkedKey(delivery.subscriptionId)), retention.parkedRetentionMs)
    const again = await fixture.sendAgain(last)
    for (const key of [recordKey, bodyKey])
      close(await fixture.ttlOf(key(delivery.deliveryId)), retention.parkedRetentionMs)
    await store.settle(again, delivered(again), acknowledged)
    for (const key of [recordKey, bodyKey])
      close(await fixture.ttlOf(key(delivery.deliveryId)), retention.settledRetentionMs)
  })

  test('keep extends the record of a delivery that waits longer than its schedule', async () => {
    const delivery = deliveryOf()
    const key = recordKey(delivery.deliveryId)
    await store.keep(delivery)
    expect(await fixture.ttlOf(key)).toBe(-2)
    await store.settle(delivery, failed(delivery), waiting)
    await redis[run]((commands) => commands.pexpire(key, 60_000))
    await store.keep(delivery)
    expect(await fixture.ttlOf(key)).toBeGreaterThan(retention.waitingRetentionMs - 60_000)
    await redis[run]((commands) => commands.pexpire(key, 2 * retention.waitingRetentionMs))
    await store.keep(delivery)
    expect(await fixture.ttlOf(key)).toBeGreaterThan(retention.waitingRetentionMs)
  })

  test('a delivery that was redelivered very often keeps its latest attempts and stays small', async () => {
    const delivery = deliveryOf({ attempt: 2_000 })
    await store.park(delivery, null, 'rejected')
    const earlier = Array.from({ length: 2_000 }, (_, i) => JSON.stringify({ ...refused(delivery), attempt: i + 1 }))
    await redis[run]((commands) => commands.append(recordKey(delivery.deliveryId), `\n${earlier.join('\n')}`))
    const again = await fixture.sendAgain(delivery)
    await store.settle(again, failed(again), waiting)
    const length = await redis[run]((commands) => commands.strlen(recordKey(delivery.deliveryId)))
    expect(length).toBeLessThan(132_000)
    const attempts = (await store.find(delivery.deliveryId))?.attempts ?? []
    expect(attempts.length).toBeGreaterThan(900)
    expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, i) => 2_002 - attempts.length + i))
  })
})
