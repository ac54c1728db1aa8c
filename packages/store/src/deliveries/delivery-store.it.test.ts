import { attemptsAfter, type Delivery, newToken, Unavailable } from '@switchhook/contracts'
import { checkInLots, UNLIMITED, unscheduled, unverified } from '@switchhook/testkit'
import fc from 'fast-check'
import { bodyKey, type KeptKind, ledgerKey, parkedKey, recordKey } from '../keys.ts'
import { execute, type Redis } from '../redis/redis.ts'
import type { DeliveryArchive } from './delivery-archive.ts'
import { isSettledBy, parseLedger, parseRecord } from './delivery-record.ts'
import { createDeliveryStore, type DeliveryStore } from './delivery-store.ts'
import type { Keep } from './kept-counts.ts'
import {
  acknowledged,
  delivered,
  deliveryOf,
  failed,
  HOUR_MS,
  NEXT_AT,
  nextOf,
  postOf,
  refused,
  retention,
  type TestDeliveries,
  useDeliveries,
  waitingAfter,
} from './testing/deliveries.ts'

/** How long a waiting delivery is kept beyond its schedule. */
const OUTAGE_MS = 7 * 24 * HOUR_MS

let fixture: TestDeliveries
let store: DeliveryStore & DeliveryArchive
let redis: Redis

useDeliveries((opened) => {
  fixture = opened
  ;({ store, redis } = fixture)
})

test('what is parked or held in a Redis of another installation is not accepted', async () => {
  const foreign = new Unavailable('redis', 'Redis holds another installation')
  const other = createDeliveryStore(redis, retention, UNLIMITED, () => Promise.reject(foreign))
  const delivery = deliveryOf()
  await expect(other.park(delivery, null, 'exhausted')).rejects.toBe(foreign)
  const next = { token: newToken(), postponed: 0 }
  const held = { state: 'held', slot: 0, next, dueInMs: 0, visitInMs: 60_000 } as const
  await expect(other.settle(deliveryOf(), null, held)).rejects.toBe(foreign)
  await expect(other.settle(delivery, failed(delivery), acknowledged)).resolves.toBeDefined()
})

describe('the ledger', () => {
  test('an unknown delivery is not settled', async () => {
    const delivery = deliveryOf()
    expect(await store.isSettled(delivery)).toBe(false)
    expect(await store.find(delivery.deliveryId)).toBeUndefined()
  })

  test('a failed slot is settled, the next one is not', async () => {
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waitingAfter(delivery))
    expect(await store.isSettled(delivery)).toBe(true)
    expect(await store.isSettled(nextOf(delivery))).toBe(false)
  })

  test('a settled slot settles all slots before it', async () => {
    const delivery = deliveryOf({ slot: 3, attempt: 3 })
    await store.settle(delivery, failed(delivery), waitingAfter(delivery))
    for (const slot of [0, 1, 2, 3]) expect(await store.isSettled({ ...delivery, slot })).toBe(true)
    expect(await store.isSettled(nextOf(delivery))).toBe(false)
  })

  test.each([acknowledged, { state: 'withdrawn' }, { state: 'expired' }] as const)(
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
    await store.settle({ ...delivery, slot: 1 }, failed(delivery), waitingAfter({ slot: 1 }))
    expect(await store.find(delivery.deliveryId)).toMatchObject({
      run: 2,
      state: 'pending',
      attempts: [refused(delivery)],
    })
  })

  test('settling a slot twice changes nothing', async () => {
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waitingAfter(delivery))
    const before = await store.find(delivery.deliveryId)
    await store.settle(delivery, postOf(delivery, 'timeout', null), {
      ...waitingAfter(delivery),
      nextAttemptAt: '2027-01-01T00:00:00.000Z',
    })
    expect(await store.find(delivery.deliveryId)).toEqual(before)
  })

  test('of two POSTs of one slot the acknowledged one counts, so no further retry is made', async () => {
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waitingAfter(delivery))
    await store.settle(delivery, delivered(delivery), acknowledged)
    expect(await store.isSettled(nextOf(delivery))).toBe(true)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ state: 'acknowledged', nextAttemptAt: null })
  })

  test('an acknowledged delivery stays acknowledged, whatever a second worker records', async () => {
    const delivery = deliveryOf()
    const later = nextOf(delivery)
    await store.settle(delivery, delivered(delivery), acknowledged)
    await store.settle(delivery, failed(delivery), waitingAfter(delivery))
    await store.settle(later, failed(later), waitingAfter(later))
    await store.park(later, refused(later), 'rejected')
    const found = await store.find(delivery.deliveryId)
    expect(found).toMatchObject({ state: 'acknowledged', attempts: [delivered(delivery)] })
    expect(await redis[execute]((commands) => commands.zcard(parkedKey(delivery.subscriptionId)))).toBe(0)
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
    expect(await redis[execute]((commands) => commands.zcard(parkedKey(last.subscriptionId)))).toBe(0)
    expect(await store.beginRedelivery(last.deliveryId, { sender: 'a' })).toEqual({ kind: 'not-parked' })
    for (const key of [recordKey, bodyKey]) {
      const ttl = await fixture.ttlOf(key(last.deliveryId))
      expect(ttl).toBeGreaterThan(0)
      expect(ttl).toBeLessThanOrEqual(retention.finishedRetentionMs)
    }
  })

  test('a parked delivery stays parked unless the same run succeeds', async () => {
    const delivery = deliveryOf()
    await store.park(delivery, refused(delivery), 'rejected')
    await store.settle(nextOf(delivery), failed(nextOf(delivery)), waitingAfter(nextOf(delivery)))
    await store.settle(delivery, null, { state: 'withdrawn' })
    expect((await fixture.parked(delivery.subscriptionId, { limit: 10 })).items).toMatchObject([{ state: 'parked' }])
    await fixture.sendAgain(delivery)
    await store.settle(delivery, delivered(delivery), acknowledged)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ run: 2, state: 'pending' })
  })

  test('first attempts that succeed in one tick are recorded together, and keep the record that one of them has', async () => {
    const [failing, ...others] = [deliveryOf(), deliveryOf(), deliveryOf()] as [Delivery, Delivery, Delivery]
    await store.settle(failing, failed(failing), waitingAfter(failing))
    const all = [failing, ...others]
    await Promise.all(all.map((delivery) => store.settle(delivery, delivered(delivery), acknowledged)))
    expect(await Promise.all(all.map((delivery) => store.isSettled(delivery)))).toEqual([true, true, true])
    const records = await Promise.all(all.map(({ deliveryId }) => store.find(deliveryId)))
    expect(records.map((record) => [record?.state, record?.attempts.length])).toEqual([
      ['acknowledged', 2],
      ['acknowledged', 1],
      ['acknowledged', 1],
    ])
  })

  test('a malformed record is an error, not an unknown delivery', async () => {
    const delivery = deliveryOf()
    const key = recordKey(delivery.deliveryId)
    await redis[execute]((commands) => commands.set(key, 'gibberish'))
    await expect(store.isSettled(delivery)).rejects.toThrow(`${key} holds no record`)
    const settling = store.settle(delivery, delivered(delivery), acknowledged)
    await expect(settling).rejects.toThrow(`${key} holds no record of a delivery`)
    await expect(settling).rejects.not.toBeInstanceOf(Unavailable)
  })

  test('of two duplicates that failed, the ledger names the retry of the first that was settled', async () => {
    const delivery = deliveryOf()
    await store.settle(delivery, failed(delivery), waitingAfter(delivery))
    await store.settle(delivery, failed(delivery), waitingAfter(delivery, { token: 'b', postponed: 0 }))
    const retry = nextOf(delivery)
    expect(await store.isSettled({ ...retry, token: 'a' })).toBe(false)
    expect(await store.isSettled({ ...retry, token: 'b' })).toBe(true)
    await store.settle({ ...retry, token: 'b' }, null, waitingAfter(retry))
    expect(await store.find(delivery.deliveryId)).toMatchObject({ slot: 1, attempt: 1, attempts: [failed(delivery)] })
    // It was POSTed before the ledger named the other one: it has more attempts, and goes on.
    await store.settle({ ...retry, token: 'b' }, failed(retry), waitingAfter(retry, { token: 'c', postponed: 0 }))
    expect(await store.isSettled({ ...retry, token: 'a' })).toBe(true)
    expect(await store.isSettled({ ...nextOf(retry), token: 'c' })).toBe(false)
    // An acknowledgement counts, whichever duplicate gets it.
    await store.settle({ ...retry, token: 'b' }, delivered(retry), acknowledged)
    expect(await store.find(delivery.deliveryId)).toMatchObject({ state: 'acknowledged', attempt: 2 })
  })

  test('of two duplicates that were postponed, the ledger names one, and every earlier message is settled', async () => {
    const last = deliveryOf({ slot: 1, attempt: 1, token: 'a' })
    const postponed = (token: string, times: number) => ({ ...last, token, postponed: times })
    await store.settle(last, null, waitingAfter(last, { token: 'b', postponed: 1 }))
    await store.settle(last, null, waitingAfter(last, { token: 'c', postponed: 1 }))
    expect(await Promise.all([last, postponed('c', 1)].map((message) => store.isSettled(message)))).toEqual([
      true,
      true,
    ])
    expect(await store.isSettled(postponed('b', 1))).toBe(false)
    expect(await store.find(last.deliveryId)).toMatchObject({ state: 'waiting', slot: 1, nextAttemptAt: NEXT_AT })
    // Redis was restored to an older state: the message that it lacks is still made.
    expect(await store.isSettled(postponed('d', 2))).toBe(false)
  })

  test('the first message of a schedule without retries can be postponed, too', async () => {
    const first = deliveryOf()
    await store.settle(first, null, waitingAfter(first, { token: 'a', postponed: 1 }))
    expect(await store.find(first.deliveryId)).toMatchObject({ state: 'waiting', slot: 0, attempt: 0 })
    expect([await store.isSettled(first), await store.isSettled({ ...first, token: 'a', postponed: 1 })]).toEqual([
      true,
      false,
    ])
  })

  test('settling changes the record exactly if the ledger does not settle the message', async () => {
    const anyMessage = fc.record({
      run: fc.integer({ min: 1, max: 2 }),
      slot: fc.nat({ max: 3 }),
      attempt: fc.nat({ max: 2 }),
      postponed: fc.nat({ max: 2 }),
      token: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
      isMade: fc.boolean(),
      isPostponed: fc.boolean(),
      end: fc.constantFrom('waiting', 'held', 'withdrawn', 'expired', 'parked', 'acknowledged'),
      next: fc.constantFrom('a', 'b', 'c'),
    })
    await checkInLots(fc.array(anyMessage, { minLength: 2, maxLength: 8 }), 300, async (messages) => {
      const delivery = deliveryOf()
      const read = async () => (await redis[execute]((commands) => commands.get(recordKey(delivery.deliveryId)))) ?? ''
      for (const { token, isMade, isPostponed, end, next: nextToken, ...over } of messages) {
        const message = { ...delivery, ...over, ...(token !== undefined && { token }) }
        const made = isMade ? failed(message) : null
        const attempt = attemptsAfter(message, made)
        const before = await read()
        const ledger = parseLedger(before)
        const isSettled = ledger !== undefined && isSettledBy(ledger, message, { state: end, attempt })
        expect(await store.isSettled(message)).toBe(ledger !== undefined && isSettledBy(ledger, message))
        const next = { token: nextToken, postponed: isPostponed ? message.postponed + 1 : 0 }
        const { kind } = await (end === 'parked'
          ? store.park(message, made, 'exhausted')
          : end === 'waiting'
            ? store.settle(message, made, waitingAfter(message, next))
            : end === 'held'
              ? store.settle(message, made, { state: end, slot: message.slot, next, dueInMs: 0, visitInMs: 60_000 })
              : store.settle(message, made, { state: end }))
        expect(kind).toBe(isSettled ? 'already' : 'written')
        const after = await read()
        if (isSettled) expect(after).toBe(before)
        else expect(parseRecord(after)?.view).toMatchObject({ state: end, run: message.run, attempt })
      }
    })
  })

  test('many workers that settle the same slot at the same time record one attempt', async () => {
    const delivery = deliveryOf()
    await Promise.all(
      Array.from({ length: 20 }, () => store.settle(delivery, failed(delivery), waitingAfter(delivery))),
    )
    expect((await store.find(delivery.deliveryId))?.attempts).toEqual([failed(delivery)])
  })
})

describe('the record', () => {
  test('a waiting delivery has its attempts, its next slot and the time of it', async () => {
    const first = deliveryOf()
    const second = nextOf(first)
    await store.settle(first, failed(first), waitingAfter(first))
    await store.settle(second, postOf(second, 'timeout', null), waitingAfter(second))
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
    await store.settle(delivery, null, waitingAfter(delivery))
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
    await store.settle(first, failed(first), waitingAfter(first))
    await store.park(last, failed(last), 'exhausted')
    const { body, token: _, ...meta } = last
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
    await store.settle(delivery, failed(delivery), waitingAfter(delivery))
    close(await fixture.ttlOf(recordKey(delivery.deliveryId)), OUTAGE_MS)
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
      close(await fixture.ttlOf(key(delivery.deliveryId)), retention.finishedRetentionMs)
  })

  describe('at the limit of its tenant', () => {
    const limited = (kinds: readonly KeptKind[], waitsMs: readonly number[] = [10_000, 6 * HOUR_MS]) => {
      const kept: [string | null, KeptKind, number, number | undefined][] = []
      const keep: Keep = (tenant, kind, keptMs, units) => {
        kept.push([tenant, kind, keptMs, units])
        return !kinds.includes(kind)
      }
      const scheduleOf = () => ({ waitsMs, cooldownMs: 30_000 })
      return { kept, store: createDeliveryStore(redis, { ...retention, scheduleOf, keep }, UNLIMITED, unverified) }
    }
    const lastsMs = async (key: string) => Math.ceil((await fixture.ttlOf(key)) / 60_000) * 60_000

    test.each([
      ['acknowledged', (of: DeliveryStore, due: Delivery) => of.settle(due, delivered(due), acknowledged)],
      [
        'acknowledged after a retry',
        (of: DeliveryStore, due: Delivery) => of.settle(nextOf(due), delivered(nextOf(due)), acknowledged),
      ],
      ['withdrawn', (of: DeliveryStore, due: Delivery) => of.settle(due, null, { state: 'withdrawn' })],
      ['expired', (of: DeliveryStore, due: Delivery) => of.settle(due, null, { state: 'expired' })],
    ] as const)('the record of a delivery that is %s lasts for a minute, below the limit an hour', async (_, end) => {
      for (const [kinds, wantedMs] of [
        [['settled'], 60_000],
        [[], HOUR_MS],
      ] as const) {
        const { kept, store } = limited(kinds)
        const due = deliveryOf()
        await end(store, due)
        expect(await lastsMs(recordKey(due.deliveryId))).toBe(wantedMs)
        expect(kept).toContainEqual(['acme', 'settled', HOUR_MS, 1])
      }
    })

    test('records that are written together have their own lifetimes', async () => {
      let left = 1
      const keep: Keep = () => left-- > 0
      const one = createDeliveryStore(redis, { ...retention, keep }, UNLIMITED, unverified)
      const both = [deliveryOf(), deliveryOf()]
      await Promise.all(both.map((due) => one.settle(due, delivered(due), acknowledged)))
      const last = await Promise.all(both.map(({ deliveryId }) => lastsMs(recordKey(deliveryId))))
      expect(last).toEqual([HOUR_MS, 60_000])
    })

    test('a parked delivery is kept as ever, and loses the ledger that would outlive it', async () => {
      for (const [kinds, ledgerMs] of [
        [['settled', 'ledgers'], 0],
        [['settled'], 7 * HOUR_MS],
      ] as const) {
        const { store } = limited(kinds)
        const due = nextOf(deliveryOf())
        await store.park(due, refused(due), 'rejected')
        expect(await lastsMs(recordKey(due.deliveryId))).toBe(retention.parkedRetentionMs)
        expect(Math.max(0, await lastsMs(ledgerKey(due.deliveryId)))).toBe(ledgerMs)
      }
    })

    test('a dropped one lasts for a minute', async () => {
      const scheduleOf = () => ({ waitsMs: [10_000], cooldownMs: 30_000 })
      const limits = { ...UNLIMITED, perSubscription: 1 }
      const one = createDeliveryStore(redis, { ...retention, scheduleOf, keep: () => false }, limits, unverified)
      const { subscriptionId } = deliveryOf()
      const all = Array.from({ length: 3 }, () => deliveryOf({ subscriptionId }))
      for (const due of all) await one.park(due, refused(due), 'rejected')
      const last = await Promise.all(all.map(({ deliveryId }) => lastsMs(recordKey(deliveryId))))
      expect(last).toEqual([60_000, retention.parkedRetentionMs, retention.parkedRetentionMs])
    })
  })

  test('each postponement extends the record of a delivery', async () => {
    const delivery = deliveryOf({ slot: 7, token: 'a' })
    const key = recordKey(delivery.deliveryId)
    await store.settle(delivery, null, waitingAfter(delivery, { token: 'b', postponed: 1 }))
    await redis[execute]((commands) => commands.pexpire(key, 60_000))
    await store.settle(
      { ...delivery, token: 'b', postponed: 1 },
      null,
      waitingAfter(delivery, { token: 'c', postponed: 2 }),
    )
    expect(await fixture.ttlOf(key)).toBeGreaterThan(OUTAGE_MS - 60_000)
  })

  describe('the ledger of a run that ended', () => {
    const retention = { finishedRetentionMs: 60_000, parkedRetentionMs: 60_000, scheduleOf: unscheduled }
    const open = (waitsMs = [10_000, 6 * HOUR_MS], cooldownMs = 30_000, kept = retention) =>
      createDeliveryStore(redis, { ...kept, scheduleOf: () => ({ waitsMs, cooldownMs }) }, UNLIMITED, unverified)
    const keptApartMs = (delivery: Delivery) => fixture.ttlOf(ledgerKey(delivery.deliveryId))
    const MAX_MS = 6 * HOUR_MS + HOUR_MS - 5_000
    const expire = (delivery: Delivery) => redis[execute]((commands) => commands.del(recordKey(delivery.deliveryId)))

    test.each([
      ['acknowledged', (delivery: Delivery) => open().settle(delivery, delivered(delivery), acknowledged)],
      ['withdrawn', (delivery: Delivery) => open().settle(delivery, null, { state: 'withdrawn' })],
      ['expired', (delivery: Delivery) => open().settle(delivery, null, { state: 'expired' })],
      ['parked', (delivery: Delivery) => open().park(delivery, refused(delivery), 'rejected')],
    ] as const)(
      '%s: outlives every duplicate that can still wait, although the record does not',
      async (_state, end) => {
        for (const slot of [1, 2, 7]) {
          const delivery = deliveryOf({ slot, token: 'a' })
          await end(delivery)
          expect(await fixture.ttlOf(recordKey(delivery.deliveryId))).toBeLessThanOrEqual(60_000)
          expect(await keptApartMs(delivery)).toBeGreaterThan(MAX_MS)
          await expire(delivery)
          expect(await open().isSettled({ ...nextOf(delivery), attempt: 0, token: 'b' })).toBe(true)
          expect(await open().isSettled({ ...delivery, run: 2, slot: 0 })).toBe(false)
        }
      },
    )

    test.each([
      [1, [6 * HOUR_MS, 1_000], 0],
      [1, [], 6 * HOUR_MS],
      [2, [1_000, 6 * HOUR_MS], 0],
      [2, [1_000], 6 * HOUR_MS],
    ])(
      'outlives the duplicates of the first message of run %i, which have no token: %j, %i',
      async (run, ...schedule) => {
        const delivery = deliveryOf({ run })
        const store = open(...schedule)
        await store.settle(delivery, delivered(delivery), acknowledged)
        expect(await keptApartMs(delivery)).toBeGreaterThan(MAX_MS)
        await expire(delivery)
        expect(await store.isSettled(delivery)).toBe(true)
        expect(await store.isSettled({ ...delivery, run: 3 })).toBe(false)
      },
    )

    test('is not kept apart where the record outlives every duplicate', async () => {
      const delivery = deliveryOf()
      await open().settle(delivery, delivered(delivery), acknowledged)
      expect(await keptApartMs(delivery)).toBe(-2)
      const waits = deliveryOf({ slot: 2, attempt: 2, token: 'a' })
      await open().settle(waits, failed(waits), waitingAfter(waits))
      expect(await keptApartMs(waits)).toBe(-2)
      expect(await fixture.ttlOf(recordKey(waits.deliveryId))).toBeGreaterThan(OUTAGE_MS + 6 * HOUR_MS)
    })

    test('outlives the waiting message of the run before, when a redelivery ends in its first slot', async () => {
      const delivery = deliveryOf({ slot: 5, attempt: 5, token: 'a' })
      await open().settle(delivery, failed(delivery), waitingAfter(delivery))
      const again = { ...delivery, run: 2, slot: 0 }
      await open().settle(again, delivered(again), acknowledged)
      expect(await keptApartMs(again)).toBeGreaterThan(MAX_MS)
      await expire(delivery)
      expect(await open().isSettled({ ...nextOf(delivery), token: 'b' })).toBe(true)
    })

    test('outlives the retry of a duplicate that has outrun the acknowledged one', async () => {
      const slow = deliveryOf()
      await open().settle(slow, failed(slow), waitingAfter(slow))
      const quick = { ...nextOf(slow), token: 'a' }
      await open().settle(quick, failed(quick), waitingAfter(quick, { token: 'b', postponed: 0 }))
      await open().settle(slow, delivered(slow), acknowledged)
      expect(await keptApartMs(slow)).toBeGreaterThan(MAX_MS)
    })

    test('is kept apart where a parked record lasts for less than a duplicate', async () => {
      const delivery = deliveryOf({ slot: 3, attempt: 3, token: 'a' })
      const kept = { finishedRetentionMs: 24 * HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled }
      await open(undefined, undefined, kept).park(delivery, refused(delivery), 'rejected')
      expect(await keptApartMs(delivery)).toBeGreaterThan(MAX_MS)
    })
  })

  test('a delivery that was redelivered very often keeps its latest attempts and stays small', async () => {
    const delivery = deliveryOf({ attempt: 2_000 })
    await store.park(delivery, null, 'rejected')
    const earlier = Array.from({ length: 2_000 }, (_, i) => JSON.stringify({ ...refused(delivery), attempt: i + 1 }))
    await redis[execute]((commands) => commands.append(recordKey(delivery.deliveryId), `\n${earlier.join('\n')}`))
    const again = await fixture.sendAgain(delivery)
    await store.settle(again, failed(again), waitingAfter(again))
    const length = await redis[execute]((commands) => commands.strlen(recordKey(delivery.deliveryId)))
    expect(length).toBeLessThan(17_400)
    const attempts = (await store.find(delivery.deliveryId))?.attempts ?? []
    expect(attempts.length).toBeGreaterThan(110)
    expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, i) => 2_002 - attempts.length + i))
  })
})
