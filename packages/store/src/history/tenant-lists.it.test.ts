import { type Delivery, newEventId, newSubscriptionId, type SubscriptionId, type Tenant } from '@switchhook/contracts'
import { aSubscription, unverified } from '@switchhook/testkit'
import { array, assert, asyncProperty, constantFrom, integer } from 'fast-check'
import {
  delivered,
  deliveryOf,
  failed,
  refused,
  type TestDeliveries,
  useDeliveries,
  waitingAfter,
} from '../deliveries/testing/deliveries.ts'
import { journalIndexKey, journalKey, parkedKey, recipientsKey } from '../keys.ts'
import { execute } from '../redis/redis.ts'
import { createSubscriptionStore } from '../subscriptions/subscription-store.ts'
import { createDeliveryCounter } from './delivery-counts.ts'
import { createDeliveryLog } from './delivery-log.ts'
import { createJournal, type LoggedEvent } from './journal.ts'
import { createJournalReader } from './journal-reader.ts'
import { createTenantLog, type TenantLogQuery } from './tenant-log.ts'
import { createTenantParked, type TenantParkedQuery } from './tenant-parked.ts'
import { aLoggedEvent } from './testing/a-logged-event.ts'

const HOUR_MS = 3_600_000

let world: TestDeliveries

useDeliveries((opened) => (world = opened))

const parkedLists = () => createTenantParked(world.redis)
const any = (): boolean => true

async function park(delivery: Delivery, attempt = failed(delivery)): Promise<Delivery> {
  const reason = attempt.status === 410 ? 'rejected' : 'exhausted'
  await world.store.park(delivery, attempt, reason)
  return delivery
}

/** Everything that Redis has sent so far. */
async function sentBytes(): Promise<number> {
  const info = await world.redis[execute]((commands) => commands.info('stats'))
  return Number(/total_net_output_bytes:(\d+)/.exec(info)?.[1])
}

/** All pages, and at how many of them a further page was named. */
async function everyPage<Query extends { readonly limit: number; readonly cursor?: string }>(
  read: (
    query: Query,
  ) => Promise<{ readonly items: readonly { readonly deliveryId: string }[]; readonly nextCursor: string | null }>,
  query: Query,
): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await read({ ...query, ...(cursor !== undefined && { cursor }) })
    expect(page.items.length).toBeLessThanOrEqual(query.limit)
    found.push(...page.items.map(({ deliveryId }) => deliveryId))
    if (page.nextCursor === null) return found
    cursor = page.nextCursor
  }
}

describe('the parked deliveries of a tenant', () => {
  const readParked = (query: Partial<TenantParkedQuery> = {}, tenant: Tenant = 'acme') =>
    everyPage((one: TenantParkedQuery) => parkedLists().page(tenant, one), { limit: 2, matches: any, ...query })

  test('are listed over all subscriptions, the newest first, each on one page, whatever the page size', async () => {
    const subscriptions = Array.from({ length: 4 }, newSubscriptionId)
    await assert(
      asyncProperty(
        array(integer({ min: 0, max: 3 }), { maxLength: 12 }),
        integer({ min: 1, max: 5 }),
        async (owners, limit) => {
          await world.server.flush()
          const parked: string[] = []
          for (const owner of owners) {
            const subscriptionId = subscriptions[owner] ?? newSubscriptionId()
            parked.push((await park(deliveryOf({ subscriptionId }))).deliveryId)
          }
          expect(await readParked({ limit })).toEqual(parked.toReversed())
        },
      ),
      { numRuns: 15 },
    )
  })

  test('of the same moment are all listed', async () => {
    const ids = Array.from({ length: 5 }, newSubscriptionId)
    const parked = await Promise.all(ids.map((subscriptionId) => park(deliveryOf({ subscriptionId }))))
    await world.redis[execute]((commands) =>
      Promise.all(
        ids.map((id, i) => commands.zadd(parkedKey(id), 1_795_280_761_173_000, `${parked[i]?.deliveryId}:1`)),
      ),
    )
    expect((await readParked()).toSorted()).toEqual(parked.map(({ deliveryId }) => deliveryId).toSorted())
  })

  test('that are parked later do not shift the pages', async () => {
    const first = [await park(deliveryOf()), await park(deliveryOf()), await park(deliveryOf())]
    const page = await parkedLists().page('acme', { limit: 1, matches: any })
    await park(deliveryOf())
    const rest = await readParked({ cursor: page.nextCursor ?? '', limit: 5 })
    expect(rest).toEqual([first[1]?.deliveryId, first[0]?.deliveryId])
  })

  test('of another tenant are never listed, not even by the id of its subscription', async () => {
    const delivery = await park(deliveryOf())
    await park(deliveryOf({ tenant: 'globex' }))
    const { subscriptionId } = delivery
    expect(await readParked()).toEqual([delivery.deliveryId])
    expect(await readParked({ subscriptionId })).toEqual([delivery.deliveryId])
    expect(await readParked({ subscriptionId }, 'globex')).toEqual([])
    expect(await readParked({ subscriptionId }, null)).toEqual([])
    expect(await parkedLists().causes(null)).toEqual([])
  })

  test('are filtered, also by their body', async () => {
    const about = async (callId: string) =>
      park(deliveryOf({ body: Buffer.from(JSON.stringify({ data: { callId } })) }))
    const [one] = [await about('a'), await about('b')]
    expect(await readParked({ bodyMatches: (body) => body.toString().includes('"a"') })).toEqual([one.deliveryId])
    expect(await readParked({ matches: ({ deliveryId }) => deliveryId === one.deliveryId })).toEqual([one.deliveryId])
    expect(await readParked({ toMs: Date.now() - HOUR_MS })).toEqual([])
    expect(await readParked({ fromMs: Date.now() + HOUR_MS })).toEqual([])
  })

  test('are filtered by their body in parts, because bodies can be large', async () => {
    const subscriptionId = newSubscriptionId()
    const body = Buffer.alloc(100 * 1_024)
    for (let i = 0; i < 100; i++) await park(deliveryOf({ subscriptionId, body }))
    const before = await sentBytes()
    const firstFails = (): boolean => {
      throw new Error('the first body')
    }
    await expect(readParked({ bodyMatches: firstFails })).rejects.toThrow('the first body')
    // All bodies have 10 MB.
    expect((await sentBytes()) - before).toBeLessThan(1_000_000)
    // Between the parts, the process serves others.
    const perTurn: number[] = []
    let iteration = setImmediate(function next() {
      perTurn.push(0)
      iteration = setImmediate(next)
    })
    const bodyMatches = (): boolean => {
      perTurn[perTurn.length - 1] = (perTurn.at(-1) ?? 0) + 1
      return false
    }
    await readParked({ bodyMatches, limit: 10 })
    clearImmediate(iteration)
    expect(perTurn.reduce((sum, count) => sum + count, 0)).toBe(100)
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(2)
  })

  test('a cursor of another list is rejected', async () => {
    await expect(parkedLists().page('acme', { limit: 1, matches: any, cursor: 'bDEyMw' })).rejects.toMatchObject({
      code: 'invalid-request',
    })
  })

  test('are grouped by cause, the largest group first', async () => {
    const [one, other] = [newSubscriptionId(), newSubscriptionId()]
    for (let n = 0; n < 3; n++) await park(deliveryOf({ subscriptionId: one }))
    const rejected = deliveryOf({ subscriptionId: other, url: 'https://other.example' })
    await park(rejected, refused(rejected))
    const sent = await park(deliveryOf({ subscriptionId: other }))
    await world.sendAgain(sent)
    expect(await parkedLists().causes('acme')).toEqual([
      expect.objectContaining({
        subscriptionId: one,
        parkedReason: 'exhausted',
        outcome: 'answered',
        status: 503,
        count: 3,
      }),
      expect.objectContaining({
        subscriptionId: other,
        url: 'https://other.example',
        parkedReason: 'rejected',
        status: 410,
        count: 1,
      }),
    ])
    const [group] = await parkedLists().causes('acme')
    expect(Date.parse(group?.since ?? '')).toBeLessThanOrEqual(Date.parse(group?.latest ?? ''))
  })

  test('beyond those that are looked at are one group without a cause, and no delivery is left out', async () => {
    const subscriptionId = newSubscriptionId()
    await park(deliveryOf({ subscriptionId }))
    // Entries without a record, older than the parked one: only their number is known.
    const old = Array.from({ length: 6_000 }, (_, n) => [n + 1, `${newEventId()}:1`] as const)
    await world.redis[execute]((commands) => commands.zadd(parkedKey(subscriptionId), ...old.flat()))
    const [rest, group] = await parkedLists().causes('acme')
    expect(rest).toMatchObject({ subscriptionId, parkedReason: null, count: 1_001, since: '1970-01-01T00:00:00.000Z' })
    expect(group).toMatchObject({ parkedReason: 'exhausted', count: 1 })
  })
})

const limits = { size: 10_000, retentionMs: HOUR_MS, deliveryRetentionMs: HOUR_MS }
const journal = () => createJournalReader(world.redis, limits)

const eventFor = (subscriptionIds: readonly SubscriptionId[], change: Partial<LoggedEvent> = {}): LoggedEvent =>
  aLoggedEvent({ subscriptionIds, ...change })

async function logged(events: readonly LoggedEvent[]): Promise<void> {
  await createDeliveryLog(world.redis, limits).write(events)
  await createJournal(world.redis, limits).append(events)
}

const deliveriesOf = ({ eventId, subscriptionIds, tenant }: LoggedEvent): Delivery[] =>
  subscriptionIds.map((subscriptionId) => deliveryOf({ eventId, subscriptionId, tenant }))

async function fanOut(subscriptionIds: readonly SubscriptionId[], change?: Partial<LoggedEvent>): Promise<Delivery[]> {
  const event = eventFor(subscriptionIds, change)
  await logged([event])
  return deliveriesOf(event)
}

async function subscribe(tenant: Tenant = 'acme'): Promise<SubscriptionId> {
  return (
    await createSubscriptionStore(world.redis, unverified, {}).create(
      aSubscription({ tenant, url: 'https://client.example' }),
    )
  ).id
}

describe('the deliveries of the latest events', () => {
  const readLog = (query: Partial<TenantLogQuery> = {}, tenant: Tenant = 'acme') =>
    everyPage((one: TenantLogQuery) => createTenantLog(world.redis, journal()).page(tenant, one), {
      limit: 2,
      matches: any,
      ...query,
    })

  test('are listed by event, each on one page, whatever the page size', async () => {
    const ids = [await subscribe(), await subscribe(), await subscribe()]
    await assert(
      asyncProperty(
        array(constantFrom(0, 1, 2, 3), { maxLength: 6 }),
        integer({ min: 1, max: 5 }),
        async (widths, limit) => {
          await world.redis[execute]((commands) => commands.del(journalKey('acme'), journalIndexKey('acme')))
          const wanted: string[] = []
          for (const width of widths) {
            wanted.unshift(...(await fanOut(ids.slice(0, width))).map(({ deliveryId }) => deliveryId))
          }
          expect(await readLog({ limit })).toEqual(wanted)
        },
      ),
      { numRuns: 20 },
    )
  })

  test('of an event with more subscriptions than a page searches are all listed', async () => {
    const ids = Array.from({ length: 2_500 }, newSubscriptionId)
    const last = await subscribe()
    await fanOut([last])
    const [delivery] = (await fanOut([...ids, last])).slice(-1)
    const found = await readLog({ limit: 5 })
    // The others are of deleted subscriptions.
    expect(found).toHaveLength(2)
    expect(found[0]).toBe(delivery?.deliveryId)
    expect(await readLog({ limit: 5, subscriptionId: last })).toEqual(found)
  })

  test('of events with very many subscriptions cost no more than a page needs', async () => {
    const subscriptionIds = Array.from({ length: 10_000 }, newSubscriptionId)
    const events = Array.from({ length: 60 }, () => eventFor(subscriptionIds.slice(0, 101)))
    await createJournal(world.redis, limits).append(events)
    await world.redis[execute]((commands) =>
      Promise.all(events.map(({ eventId }) => commands.set(recipientsKey(eventId), JSON.stringify(subscriptionIds)))),
    )
    const before = await sentBytes()
    await createTenantLog(world.redis, journal()).page('acme', { limit: 20, matches: any })
    // All 60 records have 24 MB.
    expect((await sentBytes()) - before).toBeLessThan(5_000_000)
  })

  test('of many events are each listed once, where one page reads the list in several parts', async () => {
    const ids = [await subscribe(), await subscribe()]
    const events = Array.from({ length: 600 }, () => eventFor(ids))
    await logged(events)
    const wanted = events
      .toReversed()
      .flatMap(deliveriesOf)
      .map(({ deliveryId }) => deliveryId)
    expect(await readLog({ limit: 900 })).toEqual(wanted)
    const third = new Set(wanted.filter((_, n) => n % 3 === 0))
    expect(await readLog({ limit: 50, matches: ({ deliveryId }) => third.has(deliveryId) })).toEqual([...third])
  })

  test('have the state of their record, or are pending', async () => {
    const id = await subscribe()
    const [one, two, three] = [await fanOut([id]), await fanOut([id]), await fanOut([id])].flat() as [
      Delivery,
      Delivery,
      Delivery,
    ]
    await world.store.settle(one, delivered(one), { state: 'acknowledged' })
    await world.store.settle(two, failed(two), waitingAfter(two))
    const { items } = await createTenantLog(world.redis, journal()).page('acme', { limit: 5, matches: any })
    expect(items.map(({ deliveryId, state }) => [deliveryId, state])).toEqual([
      [three.deliveryId, 'pending'],
      [two.deliveryId, 'waiting'],
      [one.deliveryId, 'acknowledged'],
    ])
    expect(await readLog({ matches: ({ state }) => state === 'waiting' })).toEqual([two.deliveryId])
  })

  test('are listed with their records also at the limit of settled deliveries; one that may have had a record is not pending', async () => {
    const id = await subscribe()
    const [one] = (await fanOut([id])) as [Delivery]
    await fanOut([id])
    await world.store.settle(one, delivered(one), { state: 'acknowledged' })
    const isRecent = jest.fn(() => false)
    const atLimit = { ...journal(), recent: async () => isRecent }
    const list = async () =>
      (await createTenantLog(world.redis, atLimit).page('acme', { limit: 5, matches: any })).items
    expect((await list()).map(({ deliveryId }) => deliveryId)).toEqual([one.deliveryId])
    isRecent.mockReturnValue(true)
    expect((await list()).map(({ state }) => state)).toEqual(['pending', 'acknowledged'])
  })

  test('are filtered by what the event is about', async () => {
    const id = await subscribe()
    const subject = { callId: 'a', agentUri: 'sip:alice@acme.example', correlationId: null }
    const [one] = await fanOut([id], { subject })
    await fanOut([id], { eventType: 'agent.status' })
    expect(await readLog({ callId: 'a' })).toEqual([one?.deliveryId])
    expect(await readLog({ agentUri: 'sip:alice@acme.example', eventType: 'call.status' })).toEqual([one?.deliveryId])
    expect(await readLog({ callId: 'a', eventType: 'agent.status' })).toEqual([])
  })

  test('of another tenant are never listed', async () => {
    const id = await subscribe()
    await fanOut([id])
    expect(await readLog({}, 'globex')).toEqual([])
    expect(await readLog({ subscriptionId: id }, null)).toEqual([])
  })
})

describe('how a subscription stands', () => {
  const read = (id: SubscriptionId, query = { most: 500, isFailing: false }) =>
    createDeliveryCounter(world.redis, journal()).read({ id, tenant: 'acme' }, query)

  test('counts pending, waiting and parked deliveries', async () => {
    const id = newSubscriptionId()
    const none = { pending: 0, waiting: 0, held: 0, oldestHeldAt: null, looked: 0, parked: 0, oldestParkedAt: null }
    expect(await read(id)).toEqual(none)
    const [one, two, three] = [await fanOut([id]), await fanOut([id]), await fanOut([id])].flat() as [
      Delivery,
      Delivery,
      Delivery,
    ]
    await world.store.settle(one, delivered(one), { state: 'acknowledged' })
    await world.store.settle(two, failed(two), waitingAfter(two))
    await park(three)
    await fanOut([id])
    expect(await read(id)).toEqual({
      ...none,
      pending: 1,
      waiting: 1,
      looked: 4,
      parked: 1,
      oldestParkedAt: expect.stringMatching(/Z$/),
    })
  })

  test('looks past deliveries that are over only if the endpoint failed lately, and no further than allowed', async () => {
    const id = newSubscriptionId()
    const [old] = (await fanOut([id])) as [Delivery]
    await world.store.settle(old, failed(old), waitingAfter(old))
    const over = await Promise.all(Array.from({ length: 150 }, () => fanOut([id])))
    await Promise.all(over.flat().map((one) => world.store.settle(one, delivered(one), { state: 'acknowledged' })))
    expect(await read(id)).toMatchObject({ waiting: 0, looked: 100 })
    expect(await read(id, { most: 500, isFailing: true })).toMatchObject({ waiting: 1, looked: 151 })
    expect(await read(id, { most: 120, isFailing: true })).toMatchObject({ waiting: 0, looked: 120 })
  })
})
