import { type PlatformEvent, type Tenant } from '@switchhook/contracts'
import { anEvent, type TestRedis, useRedis } from '@switchhook/testkit'
import { outboxKey, partitionOf, revisionKey } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createOutbox, type OutboxEntry } from './outbox.ts'
import { createStateStore } from './state-store.ts'

let server: TestRedis
let redis: Redis
let other: Redis

useRedis(openRedis, (opened) => ({ server, redis, other } = opened))
beforeEach(() => server.flush())

async function commit(tenant: Tenant, count: number): Promise<PlatformEvent[]> {
  const events = Array.from({ length: count }, () => anEvent({ tenant }))
  await createStateStore(redis).commit(tenant, { records: [], events, timers: [] })
  return events
}

const idsOf = (entries: readonly (OutboxEntry | PlatformEvent)[]): string[] =>
  entries.map((entry) => ('event' in entry ? entry.event.eventId : entry.eventId)).toSorted()

/** Makes the relays that hold entries of this tenant look silent for this long. */
async function silence(tenant: string, idleMs: number): Promise<void> {
  const key = outboxKey(partitionOf(tenant))
  await redis[execute](async (commands) => {
    const pending = (await commands.xpending(key, 'relay', '-', '+', 100)) as [string][]
    const ids = pending.map(([id]) => id)
    await commands.xclaim(key, 'relay', 'relay', 0, ...ids, 'IDLE', idleMs, 'JUSTID')
  })
}

test('an empty outbox has nothing to claim', async () => {
  const outbox = createOutbox(redis)
  expect(await outbox.claim(10)).toEqual([])
  expect(await outbox.depth()).toBe(0)
})

test('the events of all tenants are claimed, each once and never more than requested', async () => {
  const events = [...(await commit('acme', 7)), ...(await commit('globex', 5)), ...(await commit(null, 3))]
  const outbox = createOutbox(redis)
  const claimed: OutboxEntry[] = []
  for (let batch = await outbox.claim(4); batch.length > 0; batch = await outbox.claim(4)) {
    expect(batch.length).toBeLessThanOrEqual(4)
    claimed.push(...batch)
    await outbox.sent(batch)
  }
  expect(idsOf(claimed)).toEqual(idsOf(events))
  expect(await outbox.depth()).toBe(0)
})

test('a claim that is smaller than the number of tenants starves none of them', async () => {
  const tenants = ['acme', 'globex', 'initech']
  expect(new Set(tenants.map(partitionOf)).size).toBe(tenants.length)
  for (const tenant of tenants) await commit(tenant, 20)
  const outbox = createOutbox(redis)
  const served: (string | null | undefined)[] = []
  while (served.length < tenants.length) {
    const batch = await outbox.claim(1)
    await outbox.sent(batch)
    served.push(batch[0]?.event.tenant)
  }
  expect(new Set(served)).toEqual(new Set(tenants))
})

test('the depth includes events that are claimed but not sent', async () => {
  await commit('acme', 3)
  const outbox = createOutbox(redis)
  const [first] = await outbox.claim(2)
  expect(await outbox.depth()).toBe(3)
  await outbox.sent(first ? [first] : [])
  expect(await outbox.depth()).toBe(2)
})

test('the oldest event is found in any partition', async () => {
  const outbox = createOutbox(redis)
  expect(await outbox.oldestMs()).toBe(0)
  await commit('acme', 1)
  const [old] = await outbox.claim(1)
  await new Promise((resolve) => setTimeout(resolve, 60))
  await commit('globex', 2)
  expect(partitionOf('globex')).not.toBe(partitionOf('acme'))
  const age = await outbox.oldestMs()
  expect(age).toBeGreaterThanOrEqual(59)
  await outbox.sent(old ? [old] : [])
  expect(await outbox.oldestMs()).toBeLessThan(age)
  await outbox.sent(await outbox.claim(10))
  expect(await outbox.oldestMs()).toBe(0)
})

test('events that were given back are claimed again immediately, by any relay, and before new ones', async () => {
  const [first] = await commit('acme', 1)
  const [one, two] = [createOutbox(redis), createOutbox(other)]
  const claimed = await one.claim(10)
  const [second] = await commit('acme', 1)
  await one.giveBack(claimed)
  expect(idsOf(await two.claim(1))).toEqual([first?.eventId])
  expect(idsOf(await one.claim(10))).toEqual([second?.eventId])
})

test('two relays that claim at the same time get different entries, and together all of them', async () => {
  const events = await commit('acme', 200)
  const [mine, theirs] = [createOutbox(redis), createOutbox(other)]
  const batches = await Promise.all([mine.claim(60), theirs.claim(60)])
  const rest = await Promise.all(
    [mine, theirs].map(async (outbox, i) => {
      await outbox.sent(batches[i] ?? [])
      return outbox.claim(100)
    }),
  )
  const all = [...batches, ...rest].flat()
  expect(idsOf(all)).toEqual(idsOf(events))
})

test('the entries of a dead relay are taken over once it has been silent for 11 s, not before', async () => {
  const events = await commit('acme', 5)
  const [dead, heir] = [createOutbox(other), createOutbox(redis)]
  await dead.claim(10)
  await silence('acme', 10_000)
  expect(await heir.claim(10)).toEqual([])
  await silence('acme', 11_500)
  expect(idsOf(await heir.claim(10))).toEqual(idsOf(events))
})

test('two relays may mark the same entries as sent', async () => {
  await commit('acme', 2)
  const [one, two] = [createOutbox(redis), createOutbox(other)]
  const claimed = await one.claim(10)
  await Promise.all([one.sent(claimed), two.sent(claimed)])
  expect(await one.depth()).toBe(0)
  expect(await one.claim(10)).toEqual([])
  expect(await two.claim(10)).toEqual([])
})

test('an entry that was deleted by hand does not come back and does not stop the others', async () => {
  const [gone, stays] = await commit('acme', 2)
  const outbox = createOutbox(redis)
  const claimed = await outbox.claim(10)
  const deleted = claimed.find(({ event }) => event.eventId === gone?.eventId)
  await redis[execute]((commands) => commands.xdel(outboxKey(deleted?.partition ?? 0), deleted?.id ?? ''))
  await outbox.giveBack(claimed)
  expect(idsOf(await outbox.claim(10))).toEqual([stays?.eventId])
})

test('events are claimed from an emptied Redis, which has no consumer group', async () => {
  await commit('acme', 3)
  const outbox = createOutbox(redis)
  const before = await outbox.claim(10)
  await server.flush()
  await outbox.sent(before)
  expect(await outbox.claim(10)).toEqual([])
  const events = await commit('acme', 2)
  expect(idsOf(await outbox.claim(10))).toEqual(idsOf(events))
})

test('scripts that Redis has forgotten are loaded again', async () => {
  const outbox = createOutbox(redis)
  await outbox.claim(10)
  await redis[execute]((commands) => commands.script('FLUSH'))
  const events = await commit('acme', 300)
  const claimed = await outbox.claim(1_000)
  expect(claimed).toHaveLength(300)
  await redis[execute]((commands) => commands.script('FLUSH'))
  await outbox.sent(claimed)
  expect(await outbox.depth()).toBe(0)
  expect(idsOf(claimed)).toEqual(expect.arrayContaining(idsOf(events)))
})

test('one call marks thousands of entries as sent', async () => {
  for (let i = 0; i < 5; i++) await commit('acme', 1_000)
  const outbox = createOutbox(redis)
  const claimed = await outbox.claim(5_000)
  expect(claimed).toHaveLength(5_000)
  await outbox.sent(claimed)
  expect(await outbox.depth()).toBe(0)
})

/** Commits events that a relay claims; resolves to the entries that it got. */
async function commitFor(tenant: string, count: number): Promise<OutboxEntry[]> {
  const claimed: OutboxEntry[] = []
  const store = createStateStore(redis, {
    takesEvents: () => true,
    claimed: (entries) => claimed.push(...entries),
    unclaimed: () => {},
  })
  const events = Array.from({ length: count }, () => anEvent({ tenant }))
  await store.commit(tenant, { records: [], events, timers: [] })
  expect(idsOf(events)).toEqual(expect.arrayContaining(idsOf(claimed)))
  return claimed
}

describe('events that a commit claims', () => {
  /** The first claim creates the consumer group. */
  const withGroup = async (): Promise<void> => {
    await commit('acme', 1)
    const outbox = createOutbox(redis)
    await outbox.sent(await outbox.claim(1))
  }

  test('are claimed by no other relay, and leave the outbox once sent', async () => {
    await withGroup()
    const claimed = await commitFor('acme', 3)
    expect(claimed).toHaveLength(3)
    const [own, others] = [createOutbox(redis), createOutbox(other)]
    expect(await own.claim(10)).toEqual([])
    expect(await others.claim(10)).toEqual([])
    await own.sent(claimed)
    expect(await own.depth()).toBe(0)
  })

  test('carry the revision of the subscriptions, and none if there is none: that Redis may have lost its data', async () => {
    await withGroup()
    const [early] = await commitFor('acme', 1)
    expect(early?.event).not.toHaveProperty('revision')
    await redis[execute]((commands) => commands.set(revisionKey('acme'), 'r1'))
    const [late] = await commitFor('acme', 1)
    expect(late?.event.revision).toBe('r1')
  })

  test('are taken over once their process has been silent for 11 s, not before', async () => {
    await withGroup()
    const claimed = await commitFor('acme', 3)
    const heir = createOutbox(other)
    await silence('acme', 10_000)
    expect(await heir.claim(10)).toEqual([])
    await silence('acme', 11_500)
    expect(idsOf(await heir.claim(10))).toEqual(idsOf(claimed))
  })

  test('are claimed immediately after they were given back', async () => {
    await withGroup()
    const claimed = await commitFor('acme', 3)
    const outbox = createOutbox(redis)
    await outbox.giveBack(claimed.slice(0, 2))
    expect(idsOf(await outbox.claim(10))).toEqual(idsOf(claimed.slice(0, 2)))
  })

  test('are found by the next claim in a Redis without consumer group', async () => {
    expect(await commitFor('acme', 3)).toEqual([])
    expect(await createOutbox(redis).claim(10)).toHaveLength(3)
  })

  test('never include older events of another process; the next pass of a relay claims those', async () => {
    await withGroup()
    const older = await commit('acme', 2)
    const claimed = await commitFor('acme', 3)
    expect(claimed).toHaveLength(1)
    const rest = await createOutbox(redis).claim(10)
    expect(rest).toHaveLength(4)
    expect(idsOf(rest)).toEqual(expect.arrayContaining(idsOf(older)))
    expect(await createOutbox(other).claim(10)).toEqual([])
  })

  test('of concurrent commits of two processes are each sent by one of them', async () => {
    await withGroup()
    const claims = await Promise.all(Array.from({ length: 100 }, () => commitFor('acme', 2)))
    expect(new Set(idsOf(claims.flat())).size).toBe(200)
  })
})
