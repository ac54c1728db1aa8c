import {
  deliveryIdOf,
  type EventId,
  newEventId,
  newSubscriptionId,
  subjectOf,
  Unavailable,
} from '@switchhook/contracts'
import {
  aDelivery,
  anEvent,
  aSubscription,
  collect,
  eventually,
  type RedisServer,
  type RedisServers,
  redisServers,
  silentLog,
  stall,
  unscheduled,
  unverified,
} from '@switchhook/testkit'
import { createBreakerStore } from './breaker/breaker-store.ts'
import { createDeliveryStore } from './deliveries/delivery-store.ts'
import { createParkedCounter } from './deliveries/parked-list.ts'
import { createDeliveryLog } from './history/delivery-log.ts'
import { createDeliveryLogReader } from './history/delivery-log-reader.ts'
import { createEventList } from './history/event-list.ts'
import { createJournal } from './history/journal.ts'
import { BEGINNING, createJournalReader } from './history/journal-reader.ts'
import { createTenantParked } from './history/tenant-parked.ts'
import { createInstallationStore } from './installation/installation-store.ts'
import { INSTALLATION_KEY } from './keys.ts'
import { execute, openRedis, type Redis } from './redis/redis.ts'
import { createIdempotencyStore } from './requests/idempotency-store.ts'
import { createOutbox } from './state/outbox.ts'
import { createStateStore } from './state/state-store.ts'
import { createTimerStore } from './state/timer-store.ts'
import { createStatisticsStore } from './statistics/statistics-store.ts'
import { createMatching } from './subscriptions/matching.ts'
import { matchOf } from './subscriptions/subscription-index.ts'
import { createSubscriptionStore } from './subscriptions/subscription-store.ts'

jest.setTimeout(120_000)
const PATIENT = { timeoutMs: 60_000, intervalMs: 50 }
const HOUR_MS = 3_600_000
const retention = { finishedRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled }

let servers: RedisServers
let redis: Redis

beforeEach(() => {
  servers = redisServers()
})

afterEach(async () => {
  await redis.close()
  await servers.close()
})

/** Enough tenants for every node to hold some. */
const TENANTS = Array.from({ length: 24 }, (_, n) => `tenant-${n}`)

/** Uses the stores for one tenant, so that their scripts with several keys run. */
async function useEveryStore(tenant: string): Promise<void> {
  const subscriptions = createSubscriptionStore(redis, unverified, {})
  const subscription = await subscriptions.create(aSubscription({ tenant }))
  expect(await createMatching(redis, unverified)(tenant, 'call.status')).toEqual([matchOf(subscription)])
  // The first page builds the order, the second reads it.
  for (const _ of [1, 2]) expect((await subscriptions.page(tenant, { limit: 10 })).items).toEqual([subscription])

  const event = anEvent({ tenant })
  const change = {
    records: ['call:1', 'agent:1'].map((key) => ({ key, expectedVersion: 0, value: { key } })),
    events: [event],
    timers: [{ id: 'now', dueInMs: 0, payload: null }],
  }
  expect(await createStateStore(redis).commit(tenant, change)).toBe('committed')
  expect(await createStateStore(redis).read(tenant, ['call:1', 'agent:1'])).toHaveLength(2)

  const one = { perSubscription: 1, perTenant: 1, released: () => {} }
  const deliveries = createDeliveryStore(redis, retention, one, unverified)
  const delivery = aDelivery({ tenant })
  await deliveries.park(delivery, null, 'exhausted')
  expect(await deliveries.isSettled(delivery)).toBe(true)
  const ofSubscription = { subscriptionId: delivery.subscriptionId, limit: 10, matches: () => true }
  const { items } = await createTenantParked(redis).page(tenant, ofSubscription)
  expect(items.map(({ deliveryId }) => deliveryId)).toEqual([delivery.deliveryId])

  for (const _ of [1, 2]) {
    const next = { ...aDelivery({ tenant }), subscriptionId: delivery.subscriptionId }
    await deliveries.park(next, null, 'exhausted')
  }
  expect(await createParkedCounter(redis).count(delivery.subscriptionId)).toMatchObject({ count: 2, dropped: 1 })

  const fannedOut = {
    ...event,
    fannedOutAt: new Date().toISOString(),
    subscriptionIds: [subscription.id],
    subject: subjectOf(event.data),
  }
  const limits = { size: 10, retentionMs: HOUR_MS, deliveryRetentionMs: HOUR_MS }
  const logged = [fannedOut, { ...fannedOut, eventId: newEventId() }]
  await createDeliveryLog(redis, limits).write(logged)
  await createJournal(redis, limits).append(logged)
  const journal = createJournalReader(redis, limits)
  const log = createDeliveryLogReader(redis, journal)
  expect((await log.page(subscription, { limit: 10 })).items).toHaveLength(2)
  expect((await createEventList(journal).page(tenant, { limit: 10 })).items).toHaveLength(2)
  const fannedOutId = deliveryIdOf(event.eventId, subscription.id)
  expect(await log.pending(tenant, fannedOutId)).toMatchObject({
    deliveryId: fannedOutId,
  })

  const breakers = createBreakerStore(redis, { failures: 1, cooldownMs: 1 })
  const endpoint = { subscriptionId: subscription.id, tenant }
  expect(await breakers.recordFailure(endpoint, undefined)).toBe(true)
  await eventually(async () => expect(await breakers.claimProbe(endpoint, 1_000)).toBeDefined())
  expect((await breakers.readEndpoint(endpoint)).subscription).toEqual(subscription)
  await breakers.recordAnswer(endpoint)

  const statistics = createStatisticsStore(redis, { subscriptions: 1 })
  const counts = new Map([['.a', 1]])
  const [nowMs, step] = [Date.now(), '1m'] as const
  const additions = [subscription.id, newSubscriptionId(), null].map((subscriptionId) => ({
    subscriptionId,
    atMs: nowMs,
    counts,
  }))
  await statistics.add(tenant, additions, nowMs)
  // The other subscription gives way, so its hashes are removed.
  await statistics.add(tenant, additions.slice(1), nowMs + 2 * HOUR_MS)
  const range = { step, fromMs: nowMs, toMs: nowMs + 1, nowMs }
  expect(await statistics.points(tenant, subscription.id, range)).toEqual([])
  expect(await statistics.points(tenant, null, range)).toMatchObject([{ attempts: 2 }])

  const limit = { requestsPerClient: 1, forgotten: () => {} }
  const requests = createIdempotencyStore(redis, { leaseMs: 1_000, retentionMs: 1_000 }, limit)
  await requests.begin(`${tenant}-earlier`, 'a', tenant)
  const begun = await requests.begin(tenant, 'a', tenant)
  if (begun.kind !== 'new') throw new Error(begun.kind)
  await requests.release(begun.claim)
  expect((await requests.begin(tenant, 'a')).kind).toBe('new')
}

/** Writes the events of many tenants together, as fan-out does. */
async function logEventsOfAll(): Promise<void> {
  const tenants = TENANTS.map((tenant) => `${tenant}-logged`)
  const subscriptions = tenants.map((tenant) => aSubscription({ tenant }))
  const events = subscriptions.flatMap(({ tenant, id }) =>
    Array.from({ length: 2 }, () => ({
      ...anEvent({ tenant: tenant ?? '' }),
      fannedOutAt: new Date().toISOString(),
      subscriptionIds: [id],
      subject: subjectOf({}),
      dataJson: '{}',
    })),
  )
  const limits = { size: 10, retentionMs: HOUR_MS, deliveryRetentionMs: HOUR_MS }
  await createDeliveryLog(redis, limits).write(events)
  await createJournal(redis, limits).append(events)
  const journal = createJournalReader(redis, limits)
  const reader = createDeliveryLogReader(redis, journal)
  for (const subscription of subscriptions) {
    const { tenant, id } = subscription
    const ids = events.filter((event) => event.tenant === tenant).map(({ eventId }) => eventId)
    const idsOf = (entries: readonly { readonly eventId: EventId }[]) => entries.map(({ eventId }) => eventId)
    expect(idsOf((await reader.page(subscription, { limit: 10 })).items)).toEqual(ids.toReversed())
    expect(idsOf((await createEventList(journal).page(tenant, { limit: 10 })).items)).toEqual(ids.toReversed())
    expect(idsOf(await journal.after(tenant, BEGINNING, 10))).toEqual(ids)
    for (const eventId of ids) {
      expect(await reader.pending(tenant, deliveryIdOf(eventId, id))).toMatchObject({ eventId })
    }
  }
  const store = createSubscriptionStore(redis, unverified, {})
  await Promise.all(subscriptions.map((subscription) => store.create(subscription)))
  const matching = createMatching(redis, unverified)
  expect(await Promise.all(tenants.map((tenant) => matching(tenant, 'call.status')))).toEqual(
    subscriptions.map((subscription) => [matchOf(subscription)]),
  )
}

/** Repeats the action while it rejects with Unavailable, as consumers do. Resolves to how often it rejected. */
async function persist(action: () => Promise<unknown>): Promise<number> {
  let refused = 0
  await eventually(async () => {
    try {
      await action()
    } catch (error) {
      if (!(error instanceof Unavailable)) return expect(error).toBeInstanceOf(Unavailable)
      refused += 1
      throw error
    }
  }, PATIENT)
  return refused
}

describe('a cluster of three primaries with a replica each', () => {
  let nodes: RedisServer[]

  beforeEach(async () => {
    const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1500']
    nodes = await Promise.all(Array.from({ length: 6 }, () => servers.start(...args)))
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
    await servers.cli('--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes')
    // A replica that has not synced yet cannot take over from its primary.
    await eventually(async () => {
      const said = await Promise.all(nodes.map(({ port }) => servers.cli('-p', String(port), 'info', 'replication')))
      expect(said.filter((info) => info.includes('master_link_status:up'))).toHaveLength(3)
    }, PATIENT)
    redis = await openRedis({
      url: addresses.map((address) => `redis+cluster://${address}`),
      log: silentLog,
      name: 'test',
    })
  })

  test('serves every store: no script touches two slots', async () => {
    await eventually(() => redis.ready())
    expect(await redis.memory()).toMatchObject({ usedBytes: expect.any(Number), maxBytes: 0 })
    for (const tenant of TENANTS) await useEveryStore(tenant)
    await logEventsOfAll()
    const outbox = createOutbox(redis)
    const entries = await outbox.claim(100)
    expect(new Set(entries.map(({ event }) => event.tenant))).toEqual(new Set(TENANTS))
    expect(entries).toHaveLength(TENANTS.length)
    await outbox.sent(entries)
    expect(await outbox.depth()).toBe(0)
    const timers = createTimerStore(redis)
    const due = await timers.claimDue(100, 1_000)
    expect(due).toHaveLength(TENANTS.length)
    await timers.done(due)
    const sizes = await Promise.all(nodes.slice(0, 3).map(({ port }) => servers.cli('-p', String(port), 'dbsize')))
    for (const size of sizes) expect(Number(size)).toBeGreaterThan(0)
    expect((await redis.durabilitySettings()).map(({ appendOnly }) => appendOnly)).toEqual(['yes', 'yes', 'yes'])
  })

  test('replies that arrived while the process stalled are taken', async () => {
    await eventually(() => redis.ready())
    const subscriptions = createSubscriptionStore(redis, unverified, {})
    const listAll = () => Promise.all(TENANTS.map((tenant) => subscriptions.findAll(tenant, [newSubscriptionId()])))
    // ioredis connects to a node at its first command.
    await persist(listAll)
    const replies = listAll()
    await new Promise(setImmediate)
    // Longer than a caller waits for a reply.
    stall(3_500)
    expect(await replies).toEqual(TENANTS.map(() => new Map()))
  })

  test('when a primary is killed, its data is Unavailable until its replica takes over', async () => {
    const subscriptions = createSubscriptionStore(redis, unverified, {})
    const write = (): Promise<unknown> =>
      Promise.all(TENANTS.map((name) => subscriptions.create(aSubscription({ tenant: name }))))
    await persist(write)
    await nodes[0]?.kill()
    expect(await persist(write)).toBeGreaterThan(0)
    for (const tenant of TENANTS) expect((await collect(subscriptions.all(tenant))).length).toBeGreaterThan(0)
  })
})

test('with one primary away, the keys of the others are served and Redis is ready, so that consumers need not pause', async () => {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '60000']
  const nodes = await Promise.all(Array.from({ length: 3 }, () => servers.start(...args)))
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  await servers.cli('--cluster', 'create', ...addresses, '--cluster-replicas', '0', '--cluster-yes')
  redis = await openRedis({
    url: addresses.map((address) => `redis+cluster://${address}`),
    log: silentLog,
    name: 'test',
  })
  await persist(() =>
    Promise.all(
      TENANTS.map((tenant) => createSubscriptionStore(redis, unverified, {}).create(aSubscription({ tenant }))),
    ),
  )
  const slot = await servers.cli('-p', String(nodes[0]?.port), 'cluster', 'keyslot', INSTALLATION_KEY)
  // Each primary has a third of the 16384 slots, in the order of its start.
  const deciding = Math.floor(Number(slot) / 5_461)
  await nodes[(deciding + 1) % 3]?.kill()
  const read = await Promise.allSettled(
    TENANTS.map((tenant) =>
      createBreakerStore(redis, { failures: 1, cooldownMs: 1 }).readEndpoint({
        tenant,
        subscriptionId: newSubscriptionId(),
      }),
    ),
  )
  const failed = read.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  expect(failed.length).toBeGreaterThan(0)
  expect(failed.length).toBeLessThan(TENANTS.length)
  for (const error of failed) expect(error).toBeInstanceOf(Unavailable)
  await expect(logEventsOfAll()).rejects.toThrow(Unavailable)
  await redis.ready()
  await createInstallationStore(redis).read()
})

test('a cluster that looks like one Redis, as behind a proxy, serves every store', async () => {
  const node = await servers.start('--cluster-enabled', 'yes')
  await servers.cli('-p', String(node.port), 'cluster', 'addslotsrange', '0', '16383')
  await eventually(async () =>
    expect(await servers.cli('-p', String(node.port), 'cluster', 'info')).toContain('cluster_state:ok'),
  )
  redis = await openRedis({ url: `redis://127.0.0.1:${node.port}`, log: silentLog, name: 'test' })
  await logEventsOfAll()
  for (const tenant of TENANTS.slice(0, 3)) await useEveryStore(tenant)
})

describe('a primary with a replica and a sentinel', () => {
  test('when the primary is killed, the connection follows to the replica that takes over', async () => {
    const primary = await servers.start()
    const replica = await servers.start('--replicaof', `127.0.0.1 ${primary.port}`)
    const sentinel = await servers.startSentinel(primary, 'switchhook')
    const gone = 'redis+sentinel://127.0.0.1:1/switchhook'
    redis = await openRedis({
      url: [gone, `redis+sentinel://127.0.0.1:${sentinel.port}/switchhook`],
      log: silentLog,
      name: 'test',
    })
    await eventually(
      async () =>
        expect(await servers.cli('-p', String(sentinel.port), 'sentinel', 'replicas', 'switchhook')).toContain(
          String(replica.port),
        ),
      PATIENT,
    )
    const set = (value: string): Promise<unknown> => redis[execute]((commands) => commands.set('sh:test', value))
    await set('before')
    await eventually(async () =>
      expect(await servers.cli('-p', String(replica.port), 'get', 'sh:test')).toContain('before'),
    )
    await primary.kill()
    await eventually(() => expect(redis.isReady()).toBe(false))
    expect(await persist(() => set('after'))).toBeGreaterThan(0)
    expect(await servers.cli('-p', String(replica.port), 'get', 'sh:test')).toContain('after')
    // The old primary returns as a replica, so the connection must not write to it.
    await primary.start()
    await eventually(
      async () => expect(await servers.cli('-p', String(primary.port), 'role')).toContain('slave'),
      PATIENT,
    )
    await set('later')
  })
})
