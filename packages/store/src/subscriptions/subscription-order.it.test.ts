import { AppError, type Subscription } from '@switchhook/contracts'
import { aSubscription, collect, type TestRedis, unverified, useRedis } from '@switchhook/testkit'
import fc from 'fast-check'
import { subscriptionOrderKey } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createSubscriptionStore, type SubscriptionStore } from './subscription-store.ts'

const TENANT = 'acme'

let server: TestRedis
let redis: Redis
let store: SubscriptionStore

useRedis(openRedis, (opened) => ({ server, redis } = opened))
beforeEach(async () => {
  await server.flush()
  store = createSubscriptionStore(redis, unverified, {})
})

const subscription = (index: number): Subscription =>
  aSubscription({ tenant: TENANT, createdAt: new Date(Date.UTC(2026, 0, 1) + index).toISOString() })

async function allPages(limit: number): Promise<Subscription[]> {
  const items: Subscription[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.page(TENANT, { limit, ...(cursor !== undefined && { cursor }) })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    items.push(...page.items)
    cursor = page.nextCursor
  }
  return items
}

/** How often a command was called. */
async function calls(command: string): Promise<number> {
  const stats = await redis[execute]((commands) => commands.info('commandstats'))
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
}

test('pages are read without reading all subscriptions of the tenant', async () => {
  const all = Array.from({ length: 25 }, (_, index) => subscription(index))
  for (const created of all.toReversed()) await store.create(created)
  expect(await allPages(10)).toEqual(all)
  const before = await calls('hscan')
  const [first, second] = all
  if (first === undefined || second === undefined) throw new Error('there are 25')
  await store.remove(TENANT, first.id)
  const changed = await store.revise(TENANT, second.id, (present) => ({ ...present, enabled: false }))
  await store.create(subscription(30))
  expect(await allPages(7)).toEqual([changed, ...all.slice(2), expect.objectContaining({ tenant: TENANT })])
  expect(await calls('hscan')).toBe(before)
})

test('a page of hundreds is read in parts, and the ids of all without the subscriptions', async () => {
  const all = Array.from({ length: 450 }, (_, index) => subscription(index))
  for (const created of all) await store.create(created)
  const values = await calls('hmget')
  expect((await store.page(TENANT, { limit: 1_000 })).items).toEqual(all)
  expect((await calls('hmget')) - values).toBe(3)
  expect(await collect(store.ids(TENANT))).toEqual(all.map(({ id }) => id))
  expect((await calls('hmget')) - values).toBe(3)
  expect(await collect(store.all(TENANT))).toEqual(all)
})

test('a subscription that is created or removed between two pages moves no other one to another page', async () => {
  const all = Array.from({ length: 6 }, (_, index) => subscription(index))
  const [first] = all
  if (first === undefined) throw new Error('there are 6')
  for (const created of all) await store.create(created)
  const { nextCursor } = await store.page(TENANT, { limit: 2 })
  await store.remove(TENANT, first.id)
  const later = subscription(9)
  await store.create(later)
  const rest = await store.page(TENANT, { limit: 9, ...(nextCursor !== null && { cursor: nextCursor }) })
  expect(rest).toEqual({ items: [...all.slice(2), later], nextCursor: null })
})

test('a tenant cannot have more bytes of subscriptions than the limit; small ones, changes and deletions pass', async () => {
  const limited = createSubscriptionStore(redis, unverified, { mostBytesPerTenant: 8_000 })
  const heavy = (index: number) => ({ ...subscription(index), description: 'x'.repeat(3_000) })
  const [first] = [await limited.create(heavy(0)), await limited.create(heavy(1))]
  await expect(limited.create(heavy(2))).rejects.toMatchObject({ code: 'too-many-subscriptions' })
  const small = await limited.create(subscription(2))
  const grow = limited.revise(TENANT, small.id, (present) => ({ ...present, description: 'x'.repeat(3_000) }))
  await expect(grow).rejects.toMatchObject({ code: 'too-many-subscriptions' })
  expect(await limited.revise(TENANT, first.id, (present) => ({ ...present, enabled: false }))).toBeDefined()
  await limited.remove(TENANT, first.id)
  expect(await limited.create(heavy(3))).toBeDefined()
  expect(await limited.create({ ...heavy(4), tenant: 'globex' })).toBeDefined()
})

test('a page ends at a mebibyte; the next one begins after it', async () => {
  const heavy = Array.from({ length: 100 }, (_, index) => ({ ...subscription(index), description: 'x'.repeat(16_000) }))
  for (const one of heavy) await store.create(one)
  const first = await store.page(TENANT, { limit: 1_000 })
  expect(first.items.length).toBeGreaterThan(50)
  expect(first.items.length).toBeLessThan(70)
  const second = await store.page(TENANT, { limit: 1_000, cursor: first.nextCursor ?? '' })
  expect([...first.items, ...second.items]).toEqual(heavy)
  expect(second.nextCursor).toBeNull()
})

test('a tenant cannot have more subscriptions than the limit, and can write those that it has', async () => {
  const limited = createSubscriptionStore(redis, unverified, { mostPerTenant: 3 })
  const all = Array.from({ length: 6 }, (_, index) => subscription(index))
  const results = await Promise.allSettled(all.map((one) => limited.create(one)))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused.map(({ reason }) => (reason as AppError).code)).toEqual(Array(3).fill('too-many-subscriptions'))
  const [kept] = await allPages(5)
  if (kept === undefined) throw new Error('three were created')
  expect(await allPages(5)).toHaveLength(3)
  expect(await limited.create(kept)).toEqual(kept)
  expect(await limited.revise(TENANT, kept.id, (present) => ({ ...present, enabled: false }))).toEqual({
    ...kept,
    enabled: false,
  })
  await limited.create({ ...subscription(7), tenant: 'globex' })
  await limited.remove(TENANT, kept.id)
  await limited.create(subscription(8))
  await expect(limited.create(subscription(9))).rejects.toThrow(AppError)
})

test('any writes in any order: the pages hold exactly the stored subscriptions, by age', async () => {
  const step = fc.record({ what: fc.constantFrom('create', 'remove', 'change', 'read'), at: fc.nat(20) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer({ min: 1, max: 5 }), async (steps, limit) => {
      await server.flush()
      const there: Subscription[] = []
      for (const { what, at } of steps) {
        const index = at % Math.max(1, there.length)
        const known = there[index]
        if (what === 'create') there.push(await store.create(subscription(at)))
        else if (what === 'remove' && known !== undefined) {
          await store.remove(TENANT, known.id)
          there.splice(index, 1)
        } else if (what === 'change' && known !== undefined) {
          const enabled = !known.enabled
          await store.revise(TENANT, known.id, (present) => ({ ...present, enabled }))
          there[index] = { ...known, enabled }
        } else if (what === 'read') await store.page(TENANT, { limit })
      }
      const place = ({ createdAt, id }: Subscription): string => createdAt + id
      expect(await allPages(limit)).toEqual(there.toSorted((a, b) => (place(a) < place(b) ? -1 : 1)))
    }),
    { numRuns: 40 },
  )
})

test('the order is deleted with the last subscription', async () => {
  const only = subscription(0)
  await store.create(only)
  expect(await allPages(1)).toEqual([only])
  expect(await redis[execute]((commands) => commands.exists(subscriptionOrderKey(TENANT)))).toBe(1)
  await store.remove(TENANT, only.id)
  expect(await allPages(1)).toEqual([])
  expect(await redis[execute]((commands) => commands.exists(subscriptionOrderKey(TENANT)))).toBe(0)
})

test('a tenant without subscriptions leaves nothing in Redis', async () => {
  expect(await store.page('empty', { limit: 10 })).toEqual({ items: [], nextCursor: null })
  expect(await redis[execute]((commands) => commands.dbsize())).toBe(0)
})
