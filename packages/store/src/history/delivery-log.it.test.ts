import {
  type Delivery,
  type DeliveryId,
  deliveryIdOf,
  type EventType,
  newEventId,
  newSubscriptionId,
  type Subscription,
  type Tenant,
} from '@switchhook/contracts'
import { aSubscription, eventually, UNLIMITED, unscheduled, unverified, useRedis } from '@switchhook/testkit'
import { createDeliveryStore } from '../deliveries/delivery-store.ts'
import { deliveryOf as aDelivery, failed, parkedOf } from '../deliveries/testing/deliveries.ts'
import { logKey, subscriptionsKey } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createDeliveryLog } from './delivery-log.ts'
import { createDeliveryLogReader, type LogQuery } from './delivery-log-reader.ts'
import { createJournal, type LoggedEvent } from './journal.ts'
import { createJournalReader } from './journal-reader.ts'
import { aLoggedEvent } from './testing/a-logged-event.ts'

const HOUR_MS = 3_600_000
const limits = { size: 5, retentionMs: 8 * 24 * HOUR_MS }

let redis: Redis

useRedis(openRedis, (opened) => ({ redis } = opened))

const eventFor = ({ id }: Subscription, eventType: EventType = 'call.status'): LoggedEvent =>
  aLoggedEvent({ eventType, subscriptionIds: [id] })

const write = (events: readonly LoggedEvent[], more: Partial<typeof limits> = {}): Promise<void> =>
  createDeliveryLog(redis, { ...limits, ...more }).write(events)

const reader = (deliveryRetentionMs = HOUR_MS) =>
  createDeliveryLogReader(redis, createJournalReader(redis, { size: 5, retentionMs: HOUR_MS, deliveryRetentionMs }))

const read = (subscription: Subscription, query: Partial<LogQuery> = {}) =>
  reader().page(subscription, { limit: 20, ...query })

const idsIn = async (subscription: Subscription, query: Partial<LogQuery> = {}): Promise<string[]> =>
  (await read(subscription, query)).items.map(({ eventId }) => eventId)

const deliveryOf = ({ eventId, eventType }: LoggedEvent, { id: subscriptionId, url }: Subscription): Delivery =>
  aDelivery({ eventId, eventType, subscriptionId, url })

const attempt = failed(aDelivery())

const store = () =>
  createDeliveryStore(
    redis,
    { finishedRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled },
    UNLIMITED,
    unverified,
  )

test('deliveries without an attempt are listed as pending, the newest first', async () => {
  const subscription = aSubscription()
  const events = [eventFor(subscription), eventFor(subscription, 'agent.status')] as const
  await write(events)
  const { items, nextCursor } = await read(subscription)
  expect(nextCursor).toBeNull()
  expect(items).toMatchObject([
    { eventId: events[1].eventId, eventType: 'agent.status', state: 'pending', attempts: [], url: subscription.url },
    { eventId: events[0].eventId, deliveryId: deliveryIdOf(events[0].eventId, subscription.id), run: 1 },
  ])
  expect(Math.abs(Date.parse(items[0]?.firstDueAt ?? '') - Date.now())).toBeLessThan(10_000)
})

test('records determine the state of each delivery, and every state can be selected', async () => {
  const subscription = aSubscription()
  const [pending, waiting, acknowledged, parked, withdrawn] = Array.from({ length: 5 }, () => eventFor(subscription))
  if (!pending || !waiting || !acknowledged || !parked || !withdrawn) throw new Error('five were made')
  await write([pending, waiting, acknowledged, parked, withdrawn])
  const nextAttemptAt = '2026-11-20T12:00:10.000Z'
  await store().settle(deliveryOf(waiting, subscription), attempt, {
    state: 'waiting',
    slot: 1,
    nextAttemptAt,
    next: { token: 'a', postponed: 0 },
  })
  await store().settle(deliveryOf(acknowledged, subscription), attempt, { state: 'acknowledged' })
  await store().park(deliveryOf(parked, subscription), attempt, 'rejected')
  await store().settle(deliveryOf(withdrawn, subscription), null, { state: 'withdrawn' })
  const byState = { pending, waiting, acknowledged, parked, withdrawn }
  for (const [state, event] of Object.entries(byState)) {
    expect(await idsIn(subscription, { matches: (delivery) => delivery.state === state })).toEqual([event.eventId])
  }
  expect(await idsIn(subscription)).toHaveLength(5)
})

test('an event that is fanned out twice is listed once, in its first place', async () => {
  const subscription = aSubscription()
  const [first, second] = [eventFor(subscription), eventFor(subscription)]
  await write([first, second])
  await write([first])
  expect(await idsIn(subscription)).toEqual([second.eventId, first.eventId])
})

test('the log is bounded by number and by age, and the oldest entries go first', async () => {
  const subscription = aSubscription()
  const events = Array.from({ length: 8 }, () => eventFor(subscription))
  for (const event of events) await write([event])
  expect(await idsIn(subscription)).toEqual(
    events
      .slice(3)
      .map(({ eventId }) => eventId)
      .toReversed(),
  )
  await write([eventFor(subscription)], { retentionMs: 1 })
  await eventually(async () => expect(await idsIn(subscription)).toEqual([]))
  await write([eventFor(subscription)])
  const ttlMs = await redis[execute]((commands) => commands.pttl(logKey(subscription.id)))
  expect(ttlMs).toBeGreaterThan(limits.retentionMs - 60_000)
})

test('entries are removed some at a time: a list has at most a 32nd more than its size', async () => {
  const subscription = aSubscription()
  const size = 64
  for (let written = 0; written < size + 2; written += 11) {
    await write(
      Array.from({ length: 11 }, () => eventFor(subscription)),
      { size },
    )
  }
  const listed = () => redis[execute]((commands) => commands.zcard(logKey(subscription.id)))
  expect(await listed()).toBe(size + 2)
  await write([eventFor(subscription)], { size })
  expect(await listed()).toBe(size)
})

test('a tenant with many subscriptions has shorter lists, so that all of them together have a limit', async () => {
  const tenants = [
    { tenant: 'many', subscriptions: 100_000 },
    { tenant: 'few', subscriptions: 10 },
  ]
  await redis[execute]((commands) =>
    Promise.all(
      tenants.map(({ tenant, subscriptions }) =>
        commands.hset(
          subscriptionsKey(tenant),
          Object.fromEntries(Array.from({ length: subscriptions }, (_, n) => [n, '{}'])),
        ),
      ),
    ),
  )
  const listed = tenants.map(async ({ tenant }) => {
    const { id } = aSubscription({ tenant })
    const events = Array.from({ length: 30 }, () => aLoggedEvent({ tenant, subscriptionIds: [id] }))
    await write(events, { size: 1_000 })
    return redis[execute]((commands) => commands.zcard(logKey(id)))
  })
  expect(await Promise.all(listed)).toEqual([10, 30])
})

test('the events of many tenants and subscriptions share a few commands', async () => {
  const commandsSent = async (): Promise<number> =>
    [
      ...(await redis[execute]((commands) => commands.info('commandstats'))).matchAll(/cmdstat_eval\w*:calls=(\d+)/g),
    ].reduce((sum, [, calls]) => sum + Number(calls), 0)
  const events = Array.from({ length: 100 }, (_, n) => ({ ...eventFor(aSubscription()), tenant: `tenant-${n}` }))
  const before = await commandsSent()
  await write(events)
  expect((await commandsSent()) - before).toBe(1)
})

test('a delivery whose record has expired is not listed as pending', async () => {
  const subscription = aSubscription()
  await write([eventFor(subscription)])
  expect((await reader(0).page(subscription, { limit: 20 })).items).toEqual([])
})

describe('a pending delivery', () => {
  const journaled = { size: 1_000, retentionMs: HOUR_MS, deliveryRetentionMs: HOUR_MS }
  const journal = () => createJournalReader(redis, journaled)
  const find = (deliveryId: DeliveryId, tenant: Tenant = 'acme') =>
    createDeliveryLogReader(redis, journal()).pending(tenant, deliveryId)

  test.each([3, 150])('of an event with %d subscriptions is found by its id alone', async (count) => {
    const subscriptionIds = Array.from({ length: count }, newSubscriptionId)
    const event = aLoggedEvent({ subscriptionIds })
    await createJournal(redis, journaled).append([event, aLoggedEvent({ subscriptionIds })])
    const { eventId, eventType, fannedOutAt: firstDueAt } = event
    for (const subscriptionId of [subscriptionIds[0], subscriptionIds.at(-1)]) {
      if (subscriptionId === undefined) throw new Error('there is one')
      const deliveryId = deliveryIdOf(eventId, subscriptionId)
      const found = { deliveryId, subscriptionId, eventId, eventType, tenant: 'acme', firstDueAt }
      expect(await find(deliveryId)).toEqual(found)
      for (const tenant of ['globex', null]) expect(await find(deliveryId, tenant)).toBeUndefined()
    }
    expect(await find(deliveryIdOf(eventId, newSubscriptionId()))).toBeUndefined()
    expect(await find(deliveryIdOf(newEventId(), newSubscriptionId()))).toBeUndefined()
  })

  test('is not found once its record may have expired', async () => {
    const id = newSubscriptionId()
    const fannedOutAt = new Date(Date.now() - HOUR_MS).toISOString()
    const event = aLoggedEvent({ subscriptionIds: [id], fannedOutAt })
    await createJournal(redis, journaled).append([event])
    expect(await journal().find('acme', event.eventId)).toBeDefined()
    expect(await find(deliveryIdOf(event.eventId, id))).toBeUndefined()
  })
})

describe('pages', () => {
  test('are not shifted by events that are fanned out meanwhile', async () => {
    const subscription = aSubscription()
    const events = Array.from({ length: 5 }, () => eventFor(subscription))
    await write(events, { size: 100 })
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await read(subscription, { limit: 2, ...(cursor !== null && { cursor }) })
      seen.push(...page.items.map(({ eventId }) => eventId))
      cursor = page.nextCursor
      await write([eventFor(subscription)], { size: 100 })
    } while (cursor !== null)
    expect(seen).toEqual(events.map(({ eventId }) => eventId).toReversed())
  })

  test('of rare entries end after a bounded scan, and the next page continues', async () => {
    const subscription = aSubscription()
    const rare = eventFor(subscription, 'agent.status')
    await write([rare], { size: 10_000 })
    const common = Array.from({ length: 1_500 }, () => eventFor(subscription))
    await write(common, { size: 10_000 })
    const first = await read(subscription, { eventType: 'agent.status' })
    expect(first.items).toEqual([])
    expect(first.nextCursor).not.toBeNull()
    const second = await read(subscription, { eventType: 'agent.status', cursor: first.nextCursor ?? '' })
    expect(second.items.map(({ eventId }) => eventId)).toEqual([rare.eventId])
    expect(second.nextCursor).toBeNull()
  })

  test.each(['', 'hello', Buffer.from('1234').toString('base64url')])('the cursor %j is rejected', async (cursor) => {
    await expect(read(aSubscription(), { cursor })).rejects.toMatchObject({ code: 'invalid-request' })
  })
})

describe('filters', () => {
  test('select by time, event type and event', async () => {
    const subscription = aSubscription()
    const early = eventFor(subscription)
    await write([early])
    const betweenMs = await eventually(async () => {
      const nowMs = Date.now()
      const [listed] = (await read(subscription)).items
      expect(nowMs).toBeGreaterThan(Date.parse(listed?.firstDueAt ?? '') + 1)
      return nowMs
    })
    const late = eventFor(subscription, 'agent.status')
    await write([late])
    expect(await idsIn(subscription, { toMs: betweenMs })).toEqual([early.eventId])
    expect(await idsIn(subscription, { fromMs: betweenMs })).toEqual([late.eventId])
    expect(await idsIn(subscription, { eventType: 'call.status' })).toEqual([early.eventId])
    expect(await idsIn(subscription, { eventId: late.eventId })).toEqual([late.eventId])
    expect(await idsIn(subscription, { eventId: late.eventId, toMs: betweenMs })).toEqual([])
    expect(await idsIn(subscription, { eventId: late.eventId, eventType: 'call.status' })).toEqual([])
    expect(await idsIn(subscription, { eventId: newEventId() })).toEqual([])
  })

  test('select parked deliveries by when they were parked', async () => {
    const subscription = aSubscription()
    const events = [eventFor(subscription), eventFor(subscription, 'agent.status')] as const
    for (const event of events) await store().park(deliveryOf(event, subscription), attempt, 'rejected')
    const parked = async (query: object) =>
      (await parkedOf(redis)(subscription.id, { limit: 20, ...query })).items.map(({ eventId }) => eventId)
    const [newest] = (await parkedOf(redis)(subscription.id, { limit: 1 })).items
    const newestMs = Date.parse(newest?.parkedAt ?? '')
    expect(await parked({})).toEqual([events[1].eventId, events[0].eventId])
    expect(await parked({ matches: ({ eventType }: Delivery) => eventType === 'call.status' })).toEqual([
      events[0].eventId,
    ])
    expect(await parked({ fromMs: newestMs + 1_000 })).toEqual([])
    expect(await parked({ toMs: newestMs - 60_000 })).toEqual([])
    expect(await parked({ fromMs: newestMs - 60_000, toMs: newestMs + 1_000 })).toHaveLength(2)
  })
})
