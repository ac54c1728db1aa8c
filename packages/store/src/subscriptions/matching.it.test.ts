import { randomUUID } from 'node:crypto'
import { EVENT_TYPES, receives, type Subscription } from '@switchhook/contracts'
import { aSubscription, type TestRedis, unverified, useRedis } from '@switchhook/testkit'
import fc from 'fast-check'
import { revisionKey, subscriptionChangesKey, subscriptionsKey } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createMatching } from './matching.ts'
import { matchOf } from './subscription-index.ts'
import { createSubscriptionStore } from './subscription-store.ts'

const TENANT = 'acme'
const LARGE = 100_000

let server: TestRedis
let redis: Redis
let other: Redis

useRedis(openRedis, (opened) => ({ server, redis, other } = opened))
beforeEach(() => server.flush())

const subscription = (over: Partial<Subscription> = {}): Subscription => aSubscription({ tenant: TENANT, ...over })

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)

/** How often Redis was asked for all or many subscriptions together, and for single ones by a script. */
async function reads(): Promise<{ all: number; single: number }> {
  const stats = await redis[execute]((commands) => commands.info('commandstats'))
  const callsOf = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
  return { all: callsOf('hscan') + callsOf('hgetall'), single: callsOf('hget') }
}

const change = fc.record({
  what: fc.constantFrom('create', 'remove', 'change', 'match'),
  at: fc.nat(20),
  eventTypes: fc.uniqueArray(fc.constantFrom(...EVENT_TYPES), { minLength: 1 }),
  enabled: fc.boolean(),
})

test('a match equals the plain filter with any page size', async () => {
  const limits = {
    changes: fc.constantFrom({ fromSubscriptions: 0, most: 2 }, { fromSubscriptions: 3, most: 100 }),
    matching: fc.constantFrom({ mostEntries: 1_000, pageSize: 1 }, { mostEntries: 1, pageSize: 1_000 }),
  }
  await fc.assert(
    fc.asyncProperty(fc.record(limits), fc.array(change, { maxLength: 30 }), async (chosen, changes) => {
      await server.flush()
      const api = createSubscriptionStore(other, unverified, { changes: chosen.changes })
      const matching = createMatching(redis, unverified, chosen.matching)
      const there: Subscription[] = []
      const compare = async (): Promise<void> => {
        for (const eventType of EVENT_TYPES) {
          const expected = there.filter((each) => receives(each, eventType))
          const found = await matching(TENANT, eventType)
          expect(found.toSorted(byId)).toEqual(expected.map(matchOf).toSorted(byId))
        }
      }
      for (const { what, at, eventTypes, enabled } of changes) {
        const index = at % Math.max(1, there.length)
        const known = there[index]
        if (what === 'create') {
          there.push(await api.create(subscription({ eventTypes, enabled })))
        } else if (what === 'remove' && known !== undefined) {
          await api.remove(TENANT, known.id)
          there.splice(index, 1)
        } else if (what === 'change' && known !== undefined) {
          await api.revise(TENANT, known.id, (present) => ({ ...present, eventTypes, enabled }))
          there[index] = { ...known, eventTypes, enabled }
        } else if (what === 'match') await compare()
      }
      await compare()
    }),
    { numRuns: 60 },
  )
})

test('while subscriptions change, every match includes the writes that ended before it', async () => {
  const api = createSubscriptionStore(other, unverified, { changes: { fromSubscriptions: 0, most: 50 } })
  const matching = createMatching(redis, unverified, { mostEntries: 1_000, pageSize: 3 })
  const created = Array.from({ length: 200 }, () => subscription())
  const isMatched = async ({ id }: Subscription): Promise<boolean> =>
    (await matching(TENANT, 'call.status')).some((found) => found.id === id)
  const matches: Promise<boolean>[] = []
  for (const each of created) {
    await api.create(each)
    matches.push(isMatched(each))
  }
  expect(await Promise.all(matches)).toEqual(created.map(() => true))
  expect(await matching(TENANT, 'call.status')).toHaveLength(200)
})

test('the matches of one tick read the revision once', async () => {
  const matching = createMatching(redis, unverified)
  await createSubscriptionStore(redis, unverified, {}).create(subscription())
  await matching(TENANT, 'call.status')
  const gets = async () => {
    const stats = await redis[execute]((commands) => commands.info('commandstats'))
    return Number(/cmdstat_get:calls=(\d+)/.exec(stats)?.[1] ?? 0)
  }
  const before = await gets()
  await Promise.all(Array.from({ length: 50 }, () => matching(TENANT, 'call.status')))
  expect(await gets()).toBe(before + 1)
})

test('the list of changes is bounded, and a small tenant has none', async () => {
  const lengthOfList = () => redis[execute]((commands) => commands.llen(subscriptionChangesKey(TENANT)))
  const store = createSubscriptionStore(redis, unverified, { changes: { fromSubscriptions: 5, most: 8 } })
  const created = Array.from({ length: 20 }, () => subscription())
  for (const each of created.slice(0, 4)) await store.create(each)
  expect(await lengthOfList()).toBe(0)
  for (const each of created.slice(4)) await store.create(each)
  expect(await lengthOfList()).toBe(8)
  for (const each of created.slice(4)) await store.remove(TENANT, each.id)
  expect(await lengthOfList()).toBe(0)
})

describe(`a tenant with ${LARGE} subscriptions, of which 10 match calls`, () => {
  let matching: ReturnType<typeof createMatching>

  beforeEach(async () => {
    matching = createMatching(redis, unverified)
    const all = Array.from({ length: LARGE }, (_, n) =>
      subscription({ eventTypes: [n % (LARGE / 10) === 0 ? 'call.status' : 'agent.status'] }),
    )
    for (let from = 0; from < LARGE; from += 5_000) {
      const page = all.slice(from, from + 5_000).flatMap((each) => [each.id, JSON.stringify(each)])
      await redis[execute]((commands) => commands.hset(subscriptionsKey(TENANT), ...page))
    }
    await redis[execute]((commands) => commands.set(revisionKey(TENANT), randomUUID()))
  })

  test('is read in pages once, and a change costs one subscription', async () => {
    expect(await matching(TENANT, 'call.status')).toHaveLength(10)
    const afterFirst = await reads()
    const created = subscription()
    await createSubscriptionStore(redis, unverified, {}).create(created)
    const written = await reads()
    const found = await matching(TENANT, 'call.status')
    expect(found).toHaveLength(11)
    expect(found).toContainEqual(expect.objectContaining({ id: created.id }))
    const afterChange = await reads()
    expect(afterChange.all).toBe(afterFirst.all)
    expect(afterChange.single).toBe(written.single + 1)
  })

  test('costs an event no more processor time than a tenant with ten', async () => {
    const small = createSubscriptionStore(redis, unverified, {})
    for (let n = 0; n < 10; n++) await small.create(subscription({ tenant: 'globex' }))
    const events = 2_000
    const costUs = async (tenant: string): Promise<number> => {
      const before = process.cpuUsage()
      for (let n = 0; n < events; n++) await matching(tenant, 'call.status')
      const { user, system } = process.cpuUsage(before)
      return (user + system) / events
    }
    // The first matches read the subscriptions and compile the code.
    for (const tenant of [TENANT, 'globex']) await costUs(tenant)
    const [large, ten] = [await costUs(TENANT), await costUs('globex')]
    // A filter over all of them takes 1 000 µs or more; the rest is noise of the machine.
    expect(large).toBeLessThan(ten * 3 + 100)
  })
})

test('an event of a known revision reads nothing, and one of another revision sees the change', async () => {
  const [store, matching] = [createSubscriptionStore(redis, unverified, {}), createMatching(redis, unverified)]
  const revisionNow = async () => (await redis[execute]((commands) => commands.get(revisionKey(TENANT)))) ?? ''
  const matched = async (revision: string) => (await matching(TENANT, 'call.status', undefined, revision)).length
  await store.create(subscription())
  const first = await revisionNow()
  expect(await matched(first)).toBe(1)
  await createSubscriptionStore(other, unverified, {}).create(subscription())
  // Stored before the second subscription was.
  expect(await matched(first)).toBe(1)
  expect(await matched(await revisionNow())).toBe(2)
  // This event is older than what is known by now.
  expect(await matched(first)).toBe(2)
})
