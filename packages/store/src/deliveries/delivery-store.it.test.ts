import {
  type Attempt,
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  type SubscriptionId,
  Unavailable,
} from '@switchhook/contracts'
import { eventually, type TestRedis, testRedis } from '@switchhook/testkit'
import { bodyKey, parkedKey, recordKey, senderKey } from '../keys.ts'
import { openRedis, type Redis, run } from '../redis/redis.ts'
import { createDeliveryArchive, type DeliveryArchive } from './delivery-archive.ts'
import { createDeliveryStore, type DeliveryStore } from './delivery-store.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const HOUR_MS = 3_600_000
const retention = { settledRetentionMs: HOUR_MS, waitingRetentionMs: 13 * HOUR_MS, parkedRetentionMs: 720 * HOUR_MS }

let server: TestRedis
let redis: Redis
let store: DeliveryStore & DeliveryArchive

beforeAll(async () => {
  server = await testRedis()
  redis = await openRedis({ url: server.redisUrl, log, name: 'test' })
  store = { ...createDeliveryStore(redis, retention), ...createDeliveryArchive(redis) }
})
afterAll(async () => {
  await redis.close()
  await server.close()
})
beforeEach(() => server.flush())

function deliveryOf(over: Partial<Delivery> = {}): Delivery {
  const eventId = over.eventId ?? newEventId()
  const subscriptionId = over.subscriptionId ?? newSubscriptionId()
  return {
    deliveryId: deliveryIdOf(eventId, subscriptionId),
    subscriptionId,
    eventId,
    eventType: 'call.status',
    tenant: 'acme',
    url: 'https://client.example/hooks',
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: '2026-11-20T12:00:00.000Z',
    // Not UTF-8, to see that nobody decodes it on its way.
    body: Buffer.from([0x7b, 0xff, 0x00, 0x0a, 0x7d]),
    ...over,
  }
}

/** The POST that was made for a delivery as it was consumed. */
const postOf = (delivery: Delivery, outcome: Attempt['outcome'], status: number | null): Attempt => ({
  run: delivery.run,
  slot: delivery.slot,
  attempt: delivery.attempt + 1,
  at: '2026-11-20T12:00:01.000Z',
  durationMs: 12,
  outcome,
  status,
})
const failed = (delivery: Delivery): Attempt => postOf(delivery, 'answered', 503)
const delivered = (delivery: Delivery): Attempt => postOf(delivery, 'delivered', 204)
const refused = (delivery: Delivery): Attempt => postOf(delivery, 'answered', 410)
/** The message that follows a failed slot. */
const nextOf = (delivery: Delivery): Delivery => ({
  ...delivery,
  slot: delivery.slot + 1,
  attempt: delivery.attempt + 1,
})

const NEXT_AT = '2026-11-20T12:00:11.000Z'
const waiting = { state: 'waiting', nextAttemptAt: NEXT_AT } as const
const acknowledged = { state: 'acknowledged' } as const

const ttlOf = (key: string): Promise<number> => redis[run]((commands) => commands.pttl(key))

/** Begins the next run and says so: the message that a worker will consume. */
async function sendAgain(delivery: Delivery): Promise<Delivery> {
  const redelivery = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
  if (redelivery.kind !== 'begun') throw new Error(redelivery.kind)
  await store.redeliverySent(redelivery.record)
  const { run, slot, attempt, body } = redelivery.record
  return { ...delivery, run, slot, attempt, body }
}

describe('the ledger', () => {
  test('what was never heard of is not settled', async () => {
    const delivery = deliveryOf()
    expect(await store.isSettled(delivery)).toBe(false)
    expect(await store.find(delivery.deliveryId)).toBeUndefined()
  })

  test('a slot that failed is settled, the next one is not', async () => {
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waiting)
    expect(await store.isSettled(delivery)).toBe(true)
    expect(await store.isSettled(nextOf(delivery))).toBe(false)
  })

  test('a later slot settles all before it', async () => {
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

  test('a message of an old run is settled, whatever its slot', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const again = await sendAgain(delivery)
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

  test('of two POSTs for one slot, the one that was acknowledged counts, so that no further retry is made', async () => {
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waiting)
    await store.settle(delivery, delivered(delivery), acknowledged)
    expect(await store.isSettled(nextOf(delivery))).toBe(true)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ state: 'acknowledged', nextAttemptAt: null })
  })

  test('what was acknowledged stays so, whatever a second worker made of it', async () => {
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

  test('of two workers that hold the same slot, the one with a 2xx wins over the one that parked, and nothing stays parked', async () => {
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
      const ttl = await ttlOf(key(last.deliveryId))
      expect(ttl).toBeGreaterThan(0)
      expect(ttl).toBeLessThanOrEqual(retention.settledRetentionMs)
    }
  })

  test('what was parked stays so for everything but a success of the same run', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    await store.settle(nextOf(delivery), failed(nextOf(delivery)), waiting)
    await store.settle(delivery, null, { state: 'withdrawn' })
    expect((await store.parked(delivery.subscriptionId, { limit: 10 })).items).toMatchObject([{ state: 'parked' }])
    await sendAgain(delivery)
    await store.settle(delivery, delivered(delivery), acknowledged)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ run: 2, state: 'pending' })
  })

  test('what is no record is called so, and is not taken for one that was never heard of', async () => {
    const delivery = deliveryOf()
    const key = recordKey(delivery.deliveryId)
    await redis[run]((commands) => commands.set(key, 'gibberish'))
    await expect(store.isSettled(delivery)).rejects.toThrow(`${key} holds no record`)
    const settling = store.settle(delivery, delivered(delivery), acknowledged)
    await expect(settling).rejects.toThrow(`UNREADABLE ${key} holds no record of a delivery`)
    await expect(settling).rejects.not.toBeInstanceOf(Unavailable)
  })

  test('many workers that settle the same slot at once note one attempt', async () => {
    const delivery = deliveryOf()
    await Promise.all(Array.from({ length: 20 }, () => store.settle(delivery, failed(delivery), waiting)))
    expect((await store.find(delivery.deliveryId))?.attempts).toEqual([failed(delivery)])
  })
})

describe('the record', () => {
  test('a waiting delivery tells its attempts, its next slot and when that is', async () => {
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

  test('a slot that a cool-down used up adds no attempt', async () => {
    const delivery = deliveryOf({ slot: 1, attempt: 1 })
    await store.settle(delivery, null, waiting)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ slot: 2, attempt: 1, attempts: [] })
  })

  test('a delivery of the installation itself and a url with any characters come back as they were', async () => {
    const delivery = deliveryOf({ tenant: null, url: 'https://client.example/a%20b?c="d"&e=\\n%s{}' })
    await store.settle(delivery, delivered(delivery), acknowledged)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ tenant: null, url: delivery.url })
  })

  test('a parked delivery keeps everything, its body byte for byte', async () => {
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

  test('each state is remembered for its own time', async () => {
    const close = (ttl: number, wanted: number) => {
      expect(ttl).toBeLessThanOrEqual(wanted)
      expect(ttl).toBeGreaterThan(wanted - 60_000)
    }
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waiting)
    close(await ttlOf(recordKey(delivery.deliveryId)), retention.waitingRetentionMs)
    const last = nextOf(delivery)
    await store.park(last, failed(last), 'exhausted')
    for (const key of [recordKey, bodyKey]) close(await ttlOf(key(delivery.deliveryId)), retention.parkedRetentionMs)
    close(await ttlOf(parkedKey(delivery.subscriptionId)), retention.parkedRetentionMs)
    const again = await sendAgain(last)
    for (const key of [recordKey, bodyKey]) close(await ttlOf(key(delivery.deliveryId)), retention.parkedRetentionMs)
    await store.settle(again, delivered(again), acknowledged)
    for (const key of [recordKey, bodyKey]) close(await ttlOf(key(delivery.deliveryId)), retention.settledRetentionMs)
  })

  test('the record of one that waits for longer than its schedule is kept for as long again', async () => {
    const delivery = deliveryOf()
    const key = recordKey(delivery.deliveryId)
    await store.keep(delivery)
    expect(await ttlOf(key)).toBe(-2)
    await store.settle(delivery, failed(delivery), waiting)
    await redis[run]((commands) => commands.pexpire(key, 60_000))
    await store.keep(delivery)
    expect(await ttlOf(key)).toBeGreaterThan(retention.waitingRetentionMs - 60_000)
    await redis[run]((commands) => commands.pexpire(key, 2 * retention.waitingRetentionMs))
    await store.keep(delivery)
    expect(await ttlOf(key)).toBeGreaterThan(retention.waitingRetentionMs)
  })

  test('a delivery that was sent again very often keeps its latest attempts, and stays small', async () => {
    const delivery = deliveryOf({ attempt: 2_000 })
    await store.park(delivery, null, 'rejected')
    const earlier = Array.from({ length: 2_000 }, (_, i) => JSON.stringify({ ...refused(delivery), attempt: i + 1 }))
    await redis[run]((commands) => commands.append(recordKey(delivery.deliveryId), `\n${earlier.join('\n')}`))
    const again = await sendAgain(delivery)
    await store.settle(again, failed(again), waiting)
    const length = await redis[run]((commands) => commands.strlen(recordKey(delivery.deliveryId)))
    expect(length).toBeLessThan(132_000)
    const attempts = (await store.find(delivery.deliveryId))?.attempts ?? []
    expect(attempts.length).toBeGreaterThan(900)
    expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, i) => 2_002 - attempts.length + i))
  })
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
      const page = await store.parked(subscriptionId, { limit, ...(cursor !== null && { cursor }) })
      found.push(page.items.map(({ deliveryId }) => deliveryId))
      cursor = page.nextCursor
    } while (cursor !== null)
    return found
  }

  test('it begins with the newest and comes in pages, the last of which says so', async () => {
    const subscriptionId = newSubscriptionId()
    const ids = await parkMany(subscriptionId, 6)
    expect(await pages(subscriptionId, 4)).toEqual([ids.slice(0, 4), ids.slice(4)])
    expect(await pages(subscriptionId, 3)).toEqual([ids.slice(0, 3), ids.slice(3)])
    expect(await pages(subscriptionId, 10)).toEqual([ids])
    expect(await pages(newSubscriptionId(), 10)).toEqual([[]])
  })

  test('what is parked while somebody pages shifts no page', async () => {
    const subscriptionId = newSubscriptionId()
    const ids = await parkMany(subscriptionId, 4)
    const first = await store.parked(subscriptionId, { limit: 2 })
    await parkMany(subscriptionId, 3)
    const second = await store.parked(subscriptionId, { limit: 2, cursor: first.nextCursor ?? '' })
    expect([...first.items, ...second.items].map(({ deliveryId }) => deliveryId)).toEqual(ids)
    expect(second.nextCursor).toBeNull()
  })

  test('many that are parked in the same moment are each listed once', async () => {
    const subscriptionId = newSubscriptionId()
    const deliveries = Array.from({ length: 50 }, () => deliveryOf({ subscriptionId }))
    await Promise.all(deliveries.map((delivery) => store.park(delivery, refused(delivery), 'rejected')))
    const listed = (await pages(subscriptionId, 7)).flat()
    expect(listed.toSorted()).toEqual(deliveries.map(({ deliveryId }) => String(deliveryId)).toSorted())
  })

  test('those that have moved on are skipped, and pages stay full', async () => {
    const subscriptionId = newSubscriptionId()
    const ids = await parkMany(subscriptionId, 9)
    // Forgotten, without the list knowing: three in a row, so that a whole read of the list is in vain.
    for (const id of ids.slice(2, 5)) await redis[run]((commands) => commands.del(`sh:{${id}}:record`))
    const left = [...ids.slice(0, 2), ...ids.slice(5)]
    expect(await pages(subscriptionId, 2)).toEqual([left.slice(0, 2), left.slice(2, 4), left.slice(4)])
  })

  test('parking twice lists once, with the first time', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const before = await store.parked(delivery.subscriptionId, { limit: 10 })
    await store.park(delivery, refused(delivery), 'rejected')
    expect(await store.parked(delivery.subscriptionId, { limit: 10 })).toEqual(before)
    const { body: _body, ...listed } = (await store.find(delivery.deliveryId)) ?? {}
    expect(before.items).toEqual([listed])
  })

  test('it is read without what was sent', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    // Whoever reads this as a body is refused.
    await redis[run]((commands) => commands.del(bodyKey(delivery.deliveryId)))
    await redis[run]((commands) => commands.lpush(bodyKey(delivery.deliveryId), 'x'))
    const { items } = await store.parked(delivery.subscriptionId, { limit: 10 })
    expect(items).toMatchObject([{ deliveryId: delivery.deliveryId, state: 'parked' }])
    expect(items[0]).not.toHaveProperty('body')
  })

  test('what a crash left half parked is not listed, and parking it again completes it', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    // Listed, but not written: where a crash in the middle of parking leaves it.
    await redis[run]((commands) => commands.del(recordKey(delivery.deliveryId), bodyKey(delivery.deliveryId)))
    expect(await store.isSettled(delivery)).toBe(false)
    expect(await store.parked(delivery.subscriptionId, { limit: 10 })).toEqual({ items: [], nextCursor: null })
    await store.park(delivery, refused(delivery), 'rejected')
    expect((await store.parked(delivery.subscriptionId, { limit: 10 })).items).toHaveLength(1)
  })

  test('parking one again does not make it newer', async () => {
    const subscriptionId = newSubscriptionId()
    const [older, newer] = [deliveryOf({ subscriptionId }), deliveryOf({ subscriptionId })]
    for (const delivery of [older, newer, older]) await store.park(delivery, refused(delivery), 'rejected')
    expect(await pages(subscriptionId, 10)).toEqual([[newer.deliveryId, older.deliveryId]])
  })

  test('the order holds even when the clock of Redis goes back', async () => {
    const subscriptionId = newSubscriptionId()
    const ids = await parkMany(subscriptionId, 1)
    const inAnHour = String((Date.now() + HOUR_MS) * 1_000)
    await redis[run]((commands) => commands.zadd(parkedKey(subscriptionId), inAnHour, `${ids[0]}:1`))
    expect(await pages(subscriptionId, 1)).toEqual([ids])
    const later = await parkMany(subscriptionId, 2)
    expect(await pages(subscriptionId, 1)).toEqual([...later, ...ids].map((id) => [id]))
  })

  test('entries older than parked deliveries are kept do not pile up', async () => {
    const subscriptionId = newSubscriptionId()
    const longAgo = String((Date.now() - retention.parkedRetentionMs - HOUR_MS) * 1_000)
    await redis[run]((commands) => commands.zadd(parkedKey(subscriptionId), longAgo, `${deliveryOf().deliveryId}:1`))
    const ids = await parkMany(subscriptionId, 1)
    const listed = await redis[run]((commands) => commands.zrange(parkedKey(subscriptionId), '0', '-1'))
    expect(listed).toEqual(ids.map((id) => `${id}:1`))
  })

  test.each([
    '',
    'x',
    'LWluZg',
    Buffer.from('(1').toString('base64url'),
    Buffer.from('12345678901234567').toString('base64url'),
  ])('a cursor that it has not given (%j) is refused as the fault of the request', async (cursor) => {
    const page = store.parked(newSubscriptionId(), { limit: 10, cursor })
    await expect(page).rejects.toMatchObject({ code: 'invalid-request', extra: { errors: [{ pointer: '/cursor' }] } })
  })
})

describe('sending again', () => {
  test('one that is announced is pending until its first attempt, and then like any other', async () => {
    const delivery = deliveryOf({ trial: 'test' })
    await store.announce(delivery)
    await store.announce(delivery)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ state: 'pending', slot: 0, attempts: [], run: 1 })
    expect(await store.isSettled(delivery)).toBe(false)
    await store.settle(delivery, delivered(delivery), acknowledged)
    await store.announce(delivery)
    const found = await store.find(delivery.deliveryId)
    expect(found).toMatchObject({ state: 'acknowledged', attempts: [delivered(delivery)] })
    expect(await ttlOf(recordKey(delivery.deliveryId))).toBeLessThanOrEqual(retention.settledRetentionMs)
  })

  test('a test is still a test when it is sent again', async () => {
    const delivery = deliveryOf({ trial: 'test' })
    await store.park(delivery, failed(delivery), 'exhausted')
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })).toMatchObject({
      record: { trial: 'test', run: 2 },
    })
  })

  test('it is a new run from slot 0; id, body and attempts stay, the attempt counter goes on', async () => {
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
    const again = await sendAgain(delivery)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ run: 2, slot: 0, state: 'pending', parkedAt: null })
    expect(await store.parked(delivery.subscriptionId, { limit: 10 })).toEqual({ items: [], nextCursor: null })
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })).toEqual({ kind: 'not-parked' })
    expect(await store.isSettled(again)).toBe(false)
  })

  test('it remembers the url and the time with which it was sent', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const redelivery = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
    const sent = { url: 'https://client.example/moved', firstDueAt: '2026-11-21T08:00:00.000Z' }
    if (redelivery.kind === 'begun') await store.redeliverySent({ ...redelivery.record, ...sent })
    expect(await store.find(delivery.deliveryId)).toMatchObject({ ...sent, state: 'pending' })
  })

  test('after a crash before it was published it is still parked and listed, and is begun again as the same run', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const parked = await store.find(delivery.deliveryId)
    const { body: _body, ...listed } = parked ?? {}
    const begun = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
    expect(await store.find(delivery.deliveryId)).toEqual(parked)
    expect((await store.parked(delivery.subscriptionId, { limit: 10 })).items).toEqual([listed])
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })).toEqual(begun)
    expect(begun).toMatchObject({ record: { run: 2 } })
  })

  test('after a crash between publishing and saying so, the worker carries the run through', async () => {
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
    expect((await store.parked(delivery.subscriptionId, { limit: 10 })).items).toEqual([])
  })

  test('a worker that parks the new run before its publisher has said "sent" keeps it listed', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const begun = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
    const again = { ...delivery, run: 2, attempt: 1 }
    await store.park(again, refused(again), 'rejected')
    if (begun.kind === 'begun') await store.redeliverySent(begun.record)
    const page = await store.parked(delivery.subscriptionId, { limit: 10 })
    expect(page.items).toMatchObject([{ run: 2, state: 'parked', attempts: [{ run: 1 }, { run: 2 }] }])
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })).toMatchObject({
      record: { run: 3, attempt: 2 },
    })
  })

  test('of two that begin at once one sends it; the other may when that one has given up', async () => {
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

  test('whoever began it and died is waited for no longer than a broker takes', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const begun = await store.beginRedelivery(delivery.deliveryId, { sender: 'dead' })
    const leftMs = await redis[run]((commands) => commands.pttl(senderKey(delivery.deliveryId)))
    expect(leftMs).toBeGreaterThan(10_000)
    expect(leftMs).toBeLessThanOrEqual(15_000)
    await redis[run]((commands) => commands.pexpire(senderKey(delivery.deliveryId), 1))
    await eventually(async () => {
      expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'another' })).toEqual(begun)
    })
  })

  test('what is parked again at once can be sent again at once', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    const begun = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
    if (begun.kind === 'begun') await store.redeliverySent(begun.record)
    const again = { ...delivery, run: 2, attempt: 1 }
    await store.park(again, refused(again), 'rejected')
    expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'b' })).toMatchObject({ record: { run: 3 } })
  })

  test('what was never parked, or is no longer remembered, cannot be begun', async () => {
    const unknown = deliveryOf()
    expect(await store.beginRedelivery(unknown.deliveryId, { sender: 'a' })).toEqual({ kind: 'unknown' })
    const settled = deliveryOf()
    await store.settle(settled, failed(settled), waiting)
    expect(await store.beginRedelivery(settled.deliveryId, { sender: 'a' })).toEqual({ kind: 'not-parked' })
    const bodiless = deliveryOf()
    await store.park(bodiless, refused(bodiless), 'rejected')
    await redis[run]((commands) => commands.del(bodyKey(bodiless.deliveryId)))
    expect(await store.beginRedelivery(bodiless.deliveryId, { sender: 'a' })).toEqual({ kind: 'without-body' })
  })
})
