import { newSubscriptionId, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { type TestRedis, useRedis } from '@switchhook/testkit'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { addStored, type Counts, figuresOf } from './counts.ts'
import { createStatisticsStore, type StatisticsQuery } from './statistics-store.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Not at the beginning of a minute, an hour or a hash. */
const NOW = Date.UTC(2026, 10, 20, 17, 6, 1)

let server: TestRedis
let redis: Redis

useRedis(openRedis, (opened) => ({ server, redis } = opened))
beforeEach(() => server.flush())

const countsOf = (stored: string): Counts => {
  const counts: Counts = new Map()
  addStored(counts, stored)
  return counts
}

/** Counts for one subscription, or for the tenant, at one moment. */
const addition = (stored: string, subscriptionId: SubscriptionId | null = null, atMs = NOW) => ({
  subscriptionId,
  atMs,
  counts: countsOf(stored),
})

const store = (subscriptions = 2) => createStatisticsStore(redis, { subscriptions })

const read = (
  subscriptionId: SubscriptionId | null = null,
  {
    tenant = 'acme',
    step = '1m',
    fromMs = NOW - DAY_MS,
    toMs = NOW + 1,
    nowMs = NOW,
  }: Partial<StatisticsQuery> & { readonly tenant?: Tenant } = {},
) => store().points(tenant, subscriptionId, { step, fromMs, toMs, nowMs })

test('counts of several workers are added, by minute and by hour', async () => {
  const id = newSubscriptionId()
  await store().add('acme', [addition('.a2a1', id), addition('.a2a1')], NOW)
  await store().add('acme', [addition('.a3b1.J1!4', id), addition('.b12', id, NOW + MINUTE_MS)], NOW)
  const first = { atMs: NOW - 1_000, ...figuresOf(countsOf('.a5a1b1.J1!4')) }
  expect(await read(id)).toEqual([first])
  expect(await read(id, { toMs: NOW + 2 * MINUTE_MS })).toEqual([
    first,
    { atMs: NOW - 1_000 + MINUTE_MS, ...figuresOf(countsOf('.b12')) },
  ])
  expect(await read()).toEqual([{ atMs: NOW - 1_000, ...figuresOf(countsOf('.a2a1')) }])
  expect(await read(id, { step: '1h' })).toEqual([
    { atMs: Date.UTC(2026, 10, 20, 17), ...figuresOf(countsOf('.a5a1b1.J1.b12!4')) },
  ])
})

test('a range is exact at both ends, over the borders of hashes', async () => {
  const minutes = Array.from({ length: 300 }, (_, n) => NOW - n * MINUTE_MS)
  await store().add(
    'acme',
    minutes.map((atMs) => addition('.a1', null, atMs)),
    NOW,
  )
  const at = (await read(null, { fromMs: NOW - 250 * MINUTE_MS, toMs: NOW - 10 * MINUTE_MS })).map(({ atMs }) => atMs)
  expect(at).toEqual(Array.from({ length: 241 }, (_, n) => NOW - 1_000 - (250 - n) * MINUTE_MS))
  expect(await read(null, { fromMs: NOW, toMs: NOW - 1 })).toEqual([])
})

test('minutes are kept for a day, hours for 30 days', async () => {
  const old = [addition('.a1', null, NOW - DAY_MS - 2 * MINUTE_MS), addition('.a1', null, NOW - 31 * DAY_MS)]
  await store().add('acme', [...old, addition('.a1')], NOW)
  expect(await read(null, { fromMs: 0 })).toHaveLength(1)
  expect(await read(null, { fromMs: 0, step: '1h' })).toHaveLength(2)
  const keys = await redis[execute]((commands) => commands.keys('*:statistics:*'))
  const lifetimes = await redis[execute]((commands) => Promise.all(keys.map((key) => commands.pttl(key))))
  expect(lifetimes.every((ms) => ms > 0 && ms <= 35 * DAY_MS)).toBe(true)
})

test('two tenants never see each other’s figures', async () => {
  const id = newSubscriptionId()
  await store().add('acme', [addition('.a1', id), addition('.a1')], NOW)
  expect(await read(id, { tenant: 'globex' })).toEqual([])
  expect(await read(null, { tenant: 'globex' })).toEqual([])
  expect(await read(null, { tenant: null })).toEqual([])
})

describe('beyond the limit of subscriptions', () => {
  const [one, other, third] = [newSubscriptionId(), newSubscriptionId(), newSubscriptionId()]

  test('a subscription is not counted, and its tenant is', async () => {
    await store().add('acme', [addition('.a1', one), addition('.a1', other)], NOW)
    expect(await store().isCounted('acme', other)).toBe(true)
    await store().add('acme', [addition('.a1', third), addition('.a1')], NOW)
    expect([await read(one), await read(third), await read()].map((points) => points.length)).toEqual([1, 0, 1])
    expect(await store().isCounted('acme', third)).toBe(false)
    expect(await store().isCounted('globex', third)).toBe(true)
  })

  test('one that was not counted for an hour gives way, with its figures', async () => {
    await store().add('acme', [addition('.a1', one), addition('.a1', other)], NOW)
    const later = NOW + HOUR_MS + 1
    await store().add('acme', [addition('.a1', other, later)], later)
    await store().add('acme', [addition('.a1', third, later)], later)
    expect(await read(third, { nowMs: later, toMs: later + 1 })).toHaveLength(1)
    expect(await read(other, { nowMs: later, toMs: later + 1 })).toHaveLength(2)
    expect(await read(one, { step: '1h' })).toEqual([])
    expect(await store().isCounted('acme', one)).toBe(false)
  })

  test('very many cost no more than twice the limit, and the counted ones stay', async () => {
    await store().add('acme', [addition('.a1', one), addition('.a1', other)], NOW)
    const many = Array.from({ length: 500 }, () => addition('.a1', newSubscriptionId()))
    await store().add('acme', [...many, addition('.a1', other), addition('.a1', one), addition('.a502')], NOW)
    expect((await read(one))[0]?.attempts).toBe(2)
    expect((await read(other))[0]?.attempts).toBe(2)
    expect((await read())[0]?.attempts).toBe(502)
    expect(await redis[execute]((commands) => commands.keys('*:statistics:*'))).toHaveLength(6)
  })

  test('none at all has statistics of its own if the limit is 0', async () => {
    await store(0).add('acme', [addition('.a1', one), addition('.a1')], NOW)
    expect([await read(one), await read()].map((points) => points.length)).toEqual([0, 1])
  })
})
