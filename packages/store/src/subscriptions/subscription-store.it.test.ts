import { type Subscription } from '@switchhook/contracts'
import { aSubscription, collect, type TestRedis, unverified, useRedis } from '@switchhook/testkit'
import { createBreakerStore } from '../breaker/breaker-store.ts'
import { createCoolDownHistory } from '../breaker/cool-down-history.ts'
import { removedSubscriptionKey, subscriptionsKey } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createMatching } from './matching.ts'
import { matchOf } from './subscription-index.ts'
import { createSubscriptionStore, type SubscriptionStore } from './subscription-store.ts'

let server: TestRedis
let redis: Redis
let other: Redis
let store: SubscriptionStore
let matching: ReturnType<typeof createMatching>
/** The same store in another process. */
let elsewhere: SubscriptionStore

useRedis(openRedis, (opened) => ({ server, redis, other } = opened))
beforeEach(async () => {
  await server.flush()
  store = createSubscriptionStore(redis, unverified, {})
  matching = createMatching(redis, unverified)
  elsewhere = createSubscriptionStore(other, unverified, {})
})

test('revise works on the stored subscription, even if others write in between', async () => {
  const created = aSubscription({ description: '' })
  await store.create(created)
  const append = (letter: string) => (present: Subscription) => ({
    ...present,
    description: `${present.description}${letter}`,
  })
  const letters = ['a', 'b', 'c', 'd', 'e', 'f']
  await Promise.all(
    letters.map((letter, index) => (index % 2 === 0 ? store : elsewhere).revise('acme', created.id, append(letter))),
  )
  const found = await store.find('acme', created.id)
  expect(found?.description?.split('').toSorted()).toEqual(letters)
})

test('revise writes nothing if it throws or if the subscription does not exist', async () => {
  const created = aSubscription()
  await store.create(created)
  const refusing = store.revise('acme', created.id, () => {
    throw new Error('not so')
  })
  await expect(refusing).rejects.toThrow('not so')
  expect(await store.find('acme', created.id)).toEqual(created)
  expect(await store.revise('globex', created.id, (present) => present)).toBeUndefined()
})

test('a deleted subscription is found as it last was, by its own tenant, for as long as its deliveries are kept', async () => {
  const signing = (secret: string) => ({ id: secret, secret, since: '2026-11-20T17:00:00.000Z', former: [] })
  const created = aSubscription({ signing: signing('revoked'), headers: { authorization: 'old' } })
  const endpoint = { tenant: 'acme', subscriptionId: created.id }
  const keeping = createSubscriptionStore(redis, unverified, { removedRetentionMs: async () => 5_000 })
  await keeping.create(created)
  await keeping.revise('acme', created.id, (present) => ({ ...present, signing: signing('last'), headers: undefined }))
  expect(await keeping.findRemoved(endpoint)).toBeUndefined()
  await keeping.remove('acme', created.id)
  expect(await elsewhere.findRemoved(endpoint)).toEqual({ url: created.url, signing: signing('last') })
  expect(await elsewhere.findRemoved({ ...endpoint, tenant: 'globex' })).toBeUndefined()
  const leftMs = await redis[execute]((commands) => commands.pttl(removedSubscriptionKey(endpoint)))
  expect(leftMs).toBeGreaterThan(0)
  expect(leftMs).toBeLessThanOrEqual(5_000)
})

test('of a tenant that creates and deletes, only the newest deleted subscriptions are kept, and their cool-downs', async () => {
  const keeping = createSubscriptionStore(redis, unverified, { mostRemoved: 3 })
  const breakers = createBreakerStore(redis, { failures: 1, cooldownMs: 1_000 })
  const signing = { id: 's', secret: 's', since: '2026-11-20T17:00:00.000Z', former: [] }
  const deleted = async (tenant: string) => {
    const { id } = await keeping.create(aSubscription({ tenant, signing }))
    const endpoint = { tenant, subscriptionId: id }
    await breakers.recordFailure(endpoint, undefined)
    await keeping.remove(tenant, id)
    return endpoint
  }
  const own = []
  for (let n = 0; n < 5; n++) own.push(await deleted('acme'))
  const other = await deleted('globex')
  const kept = await Promise.all([...own, other].map((endpoint) => keeping.findRemoved(endpoint)))
  expect(kept.map((each) => each !== undefined)).toEqual([false, false, true, true, true, true])
  const history = createCoolDownHistory(redis)
  const all = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }
  const periods = await Promise.all([...own, other].map((endpoint) => history.between(endpoint, all)))
  expect(periods.map(({ length }) => length)).toEqual([0, 0, 1, 1, 1, 1])
})

test('an external id belongs to one subscription of a tenant, also if several are created simultaneously', async () => {
  const wanted = Array.from({ length: 6 }, () => aSubscription({ externalId: 'crm' }))
  const results = await Promise.allSettled(
    wanted.map((subscription, index) => (index % 2 === 0 ? store : elsewhere).create(subscription)),
  )
  const [made, ...others] = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  expect(others).toEqual([])
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  expect(refused).toEqual(Array(5).fill(expect.objectContaining({ code: 'external-id-taken' })))
  expect(refused[0]).toMatchObject({ extra: { detail: expect.stringContaining(String(made?.id)) as string } })
  expect(await elsewhere.findByExternalId('acme', 'crm')).toEqual(made)
  expect(await collect(store.all('acme'))).toEqual([made])
  await store.create(aSubscription({ tenant: 'globex', externalId: 'crm' }))
})

test('an external id is free again after a change or a removal', async () => {
  const { id } = await store.create(aSubscription({ externalId: 'crm' }))
  await store.revise('acme', id, (present) => ({ ...present, externalId: 'erp' }))
  expect(await store.findByExternalId('acme', 'crm')).toBeUndefined()
  const next = await store.create(aSubscription({ externalId: 'crm' }))
  const taking = store.revise('acme', id, (present) => ({ ...present, externalId: 'crm' }))
  await expect(taking).rejects.toMatchObject({ code: 'external-id-taken' })
  expect(await store.findByExternalId('acme', 'erp')).toMatchObject({ id })
  await store.revise('acme', id, (present) => ({ ...present, externalId: undefined }))
  expect(await store.findByExternalId('acme', 'erp')).toBeUndefined()
  await store.remove('acme', next.id)
  await store.create(aSubscription({ externalId: 'crm' }))
})

test('a subscription with any characters is found unchanged', async () => {
  const created = aSubscription({
    description: 'naïve "quotes" \u2028 \ud83d\udcde',
    eventTypes: ['agent.status', 'call.status'],
  })
  await store.create(created)
  expect(await store.find('acme', created.id)).toEqual(created)
})

test('the list is sorted by age, then by id', async () => {
  const at = (createdAt: string) => aSubscription({ createdAt })
  const created = [at('2026-11-20T12:00:03.000Z'), at('2026-11-20T12:00:01.000Z'), at('2026-11-20T12:00:02.000Z')]
  const twins = [at('2026-11-20T12:00:04.000Z'), at('2026-11-20T12:00:04.000Z')]
  for (const each of [...twins, ...created]) await store.create(each)
  const twinIds = twins.map(({ id }) => id).toSorted()
  expect((await collect(store.all('acme'))).map(({ id }) => id)).toEqual([
    created[1]?.id,
    created[2]?.id,
    created[0]?.id,
    ...twinIds,
  ])
})

test.each<[string, string | null, string | null]>([
  ['another tenant', 'acme', 'globex'],
  ['the installation itself', 'acme', null],
  ['a tenant, if it belongs to the installation', null, 'acme'],
  ['a tenant whose name ends the hash tag early', 'a}', 'a'],
  ['a tenant whose name looks like an escaped one', 'a:b', 'a~003ab'],
  ['a tenant that differs only in broken UTF-16', 'a\ud800', 'a\udc00'],
])('a subscription does not exist for %s', async (_who, owner, stranger) => {
  const created = aSubscription({ tenant: owner })
  await store.create(created)
  expect(await collect(store.all(owner))).toHaveLength(1)
  expect(await collect(store.all(stranger))).toEqual([])
  expect(await store.find(stranger, created.id)).toBeUndefined()
  expect(await store.revise(stranger, created.id, (present) => ({ ...present, enabled: false }))).toBeUndefined()
  expect(await store.remove(stranger, created.id)).toBe(false)
  expect(await matching(stranger, 'call.status')).toEqual([])
  expect(await store.find(owner, created.id)).toEqual(created)
})

test('a change keeps the fields that it does not name, and null is a value', async () => {
  const created = aSubscription({ description: 'before' })
  await store.create(created)
  const changed = { ...created, description: null, eventTypes: ['agent.status'] as const }
  expect(
    await store.revise('acme', created.id, (present) => ({
      ...present,
      description: null,
      eventTypes: ['agent.status'],
    })),
  ).toEqual(changed)
  expect(await store.find('acme', created.id)).toEqual(changed)
})

test('concurrent changes of one subscription are all kept', async () => {
  const created = aSubscription()
  await store.create(created)
  await Promise.all([
    store.revise('acme', created.id, (present) => ({ ...present, url: 'https://client.example/new' })),
    elsewhere.revise('acme', created.id, (present) => ({ ...present, description: 'new' })),
    store.revise('acme', created.id, (present) => ({ ...present, enabled: false })),
    elsewhere.revise('acme', created.id, (present) => ({ ...present, eventTypes: ['agent.status'] })),
  ])
  const all = { url: 'https://client.example/new', description: 'new', enabled: false, eventTypes: ['agent.status'] }
  expect(await store.find('acme', created.id)).toEqual({ ...created, ...all })
})

test('a change never brings back a removed subscription', async () => {
  const created = aSubscription()
  await store.create(created)
  await Promise.all([
    store.remove('acme', created.id),
    elsewhere.revise('acme', created.id, (present) => ({ ...present, enabled: false })),
  ])
  expect(await store.find('acme', created.id)).toBeUndefined()
  expect(await store.remove('acme', created.id)).toBe(false)
})

test('enabled subscriptions match their event types', async () => {
  const calls = aSubscription()
  const both = aSubscription({ eventTypes: ['call.status', 'agent.status'] })
  const disabled = aSubscription({ enabled: false })
  for (const each of [calls, both, disabled]) await store.create(each)
  expect(new Set(await matching('acme', 'call.status'))).toEqual(new Set([calls, both].map(matchOf)))
  expect(await matching('acme', 'agent.status')).toEqual([matchOf(both)])
})

test('the next match sees every earlier write of another process', async () => {
  const matches = async () => (await matching('acme', 'call.status')).map(({ url }) => url)
  expect(await matches()).toEqual([])
  const created = aSubscription()
  await elsewhere.create(created)
  expect(await matches()).toEqual([created.url])
  await elsewhere.revise('acme', created.id, (present) => ({ ...present, url: 'https://client.example/new' }))
  expect(await matches()).toEqual(['https://client.example/new'])
  await elsewhere.revise('acme', created.id, (present) => ({ ...present, enabled: false }))
  expect(await matches()).toEqual([])
  await elsewhere.revise('acme', created.id, (present) => ({ ...present, enabled: true }))
  expect(await matches()).toHaveLength(1)
  await elsewhere.remove('acme', created.id)
  expect(await matches()).toEqual([])
})

test('a match reads the subscriptions only if they have changed', async () => {
  await store.create(aSubscription())
  await matching('acme', 'call.status')
  // Bypasses the store, so the revision does not change.
  await redis[execute]((commands) => commands.del(subscriptionsKey('acme')))
  expect(await matching('acme', 'call.status')).toHaveLength(1)
})

test('an emptied Redis has no subscriptions, and those created afterwards match', async () => {
  await store.create(aSubscription())
  expect(await matching('acme', 'call.status')).toHaveLength(1)
  await server.flush()
  expect(await matching('acme', 'call.status')).toEqual([])
  const created = aSubscription()
  await elsewhere.create(created)
  expect(await matching('acme', 'call.status')).toEqual([matchOf(created)])
})

test('creating an existing subscription changes nothing and returns the stored one', async () => {
  const created = aSubscription()
  expect(await store.create(created)).toEqual(created)
  const changed = await store.revise('acme', created.id, (present) => ({
    ...present,
    enabled: false,
    url: 'https://client.example/new',
  }))
  expect(await elsewhere.create({ ...created, createdAt: '2026-11-20T12:00:30.000Z' })).toEqual(changed)
  expect(await collect(store.all('acme'))).toEqual([changed])
})
