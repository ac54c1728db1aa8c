import {
  type DeliveryId,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  parseDeliveryId,
  type SubscriptionId,
  type Tenant,
} from '@switchhook/contracts'
import { type TestRedis, useRedis } from '@switchhook/testkit'
import { journalKey, logKey } from '../keys.ts'
import { openRedis, type Redis, run } from '../redis/redis.ts'
import { createDeliveryLog } from './delivery-log.ts'
import { createDeliveryLogReader } from './delivery-log-reader.ts'
import { createJournal } from './journal.ts'
import { createJournalReader } from './journal-reader.ts'
import type { LoggedEvent } from './logged-event.ts'
import { BUCKETS } from './pending-index.ts'
import { aLoggedEvent } from './testing/a-logged-event.ts'

const HOUR_MS = 3_600_000
const limits = { size: 5, retentionMs: 8 * 24 * HOUR_MS, deliveryRetentionMs: HOUR_MS }
const kept = { size: 20_000, retentionMs: HOUR_MS, deliveryRetentionMs: HOUR_MS }

let server: TestRedis
let redis: Redis

useRedis(openRedis, (opened) => ({ server, redis } = opened))
beforeEach(() => server.flush())

const eventFor = (subscriptionIds: readonly SubscriptionId[], tenant: Tenant = 'acme'): LoggedEvent =>
  aLoggedEvent({ subscriptionIds, tenant })

async function write(events: readonly LoggedEvent[], nowMs = Date.now()): Promise<void> {
  const written = createDeliveryLog(redis, limits).write(events, nowMs)
  await Promise.allSettled([written, createJournal(redis, kept).append(events)])
  await written
}

const find = (deliveryId: DeliveryId, tenant: Tenant = 'acme', nowMs = Date.now()) =>
  createDeliveryLogReader(redis, createJournalReader(redis, kept)).pending(tenant, deliveryId, nowMs)

const deliveriesOf = ({ eventId, subscriptionIds }: LoggedEvent): DeliveryId[] =>
  subscriptionIds.map((id) => deliveryIdOf(eventId, id))

async function commandsSent(of: () => Promise<unknown>): Promise<number> {
  const count = async (): Promise<number> =>
    Number(/total_commands_processed:(\d+)/.exec(await redis[run]((commands) => commands.info('stats')))?.[1])
  const before = await count()
  await of()
  return (await count()) - before - 1
}

test("a delivery is found by its id alone, even if its subscription's list no longer holds it", async () => {
  const subscriptionIds = Array.from({ length: 3 }, newSubscriptionId)
  const events = Array.from({ length: 400 }, () => eventFor(subscriptionIds))
  await write(events)
  for (const event of [events.at(0), events.at(200), events.at(-1)]) {
    if (event === undefined) throw new Error('there are 400')
    const { eventId, eventType, tenant, fannedOutAt } = event
    for (const [index, deliveryId] of deliveriesOf(event).entries()) {
      expect(await find(deliveryId)).toEqual({
        deliveryId,
        subscriptionId: subscriptionIds[index],
        eventId,
        eventType,
        tenant,
        firstDueAt: fannedOutAt,
      })
    }
  }
})

test('a list that Redis refuses to extend does not keep the other deliveries of the batch out of the index', async () => {
  const [refused, other] = [eventFor([newSubscriptionId()]), eventFor([newSubscriptionId()], 'globex')]
  for (const id of refused.subscriptionIds) await redis[run]((commands) => commands.set(logKey(id), ''))
  await expect(write([refused, other])).rejects.toThrow('WRONGTYPE')
  for (const deliveryId of deliveriesOf(other)) {
    expect(await find(deliveryId, 'globex')).toMatchObject({ eventId: other.eventId })
  }
})

test('an id of another tenant and an unknown id are not found', async () => {
  const event = eventFor([newSubscriptionId()])
  await write([event, eventFor([newSubscriptionId()], 'globex'), eventFor([newSubscriptionId()], null)])
  const [deliveryId] = deliveriesOf(event)
  if (deliveryId === undefined) throw new Error('there is one')
  for (const tenant of ['globex', 'initech', null]) expect(await find(deliveryId, tenant)).toBeUndefined()
  expect(await find(deliveryIdOf(newEventId(), newSubscriptionId()))).toBeUndefined()
})

test('an unknown id costs a few small reads, however many deliveries there are', async () => {
  const events = Array.from({ length: 2_000 }, () => eventFor([newSubscriptionId()]))
  await write(events)
  const unknown = deliveryIdOf(newEventId(), newSubscriptionId())
  expect(await commandsSent(() => find(unknown))).toBeLessThanOrEqual(10)
  expect(await commandsSent(() => find(unknown, 'nobody'))).toBe(1)
})

test('ids in one bucket that share their last bytes are distinguished', async () => {
  const event = eventFor([newSubscriptionId()])
  await write([event])
  const [deliveryId = ''] = deliveriesOf(event)
  const twin = parseDeliveryId(`${deliveryId.slice(0, 9)}0000-5000-8000${deliveryId.slice(23)}`)
  expect(await find(twin)).toBeUndefined()
})

test('a delivery is found as long as the journal has its event, and no longer', async () => {
  const nowMs = Date.now()
  const event = eventFor([newSubscriptionId()])
  await write([event], nowMs)
  const [deliveryId] = deliveriesOf(event)
  if (deliveryId === undefined) throw new Error('there is one')
  // The clocks of the two processes may differ slightly.
  for (const laterMs of [-60_000, 0, HOUR_MS / 2, HOUR_MS - 1]) {
    expect(await find(deliveryId, 'acme', nowMs + laterMs)).toMatchObject({ deliveryId })
  }
  await redis[run]((commands) => commands.del(journalKey('acme')))
  expect(await find(deliveryId)).toBeUndefined()
})

test('an event that is fanned out again leads to the same delivery', async () => {
  const event = eventFor([newSubscriptionId()])
  await write([event])
  await write([event, eventFor([newSubscriptionId()])])
  const [deliveryId] = deliveriesOf(event)
  if (deliveryId === undefined) throw new Error('there is one')
  expect(await find(deliveryId)).toMatchObject({ deliveryId, eventId: event.eventId })
})

test('every key has an expiry', async () => {
  await write(Array.from({ length: 50 }, () => eventFor([newSubscriptionId(), newSubscriptionId()])))
  const keys = await redis[run]((commands) => commands.keys('sh:{t:acme}:pending*'))
  expect(keys.length).toBeGreaterThan(1)
  expect(keys.length).toBeLessThanOrEqual(BUCKETS + 1)
  for (const key of keys) {
    const leftMs = await redis[run]((commands) => commands.pttl(key))
    expect(leftMs).toBeGreaterThan(HOUR_MS)
    expect(leftMs).toBeLessThanOrEqual(1.25 * HOUR_MS)
  }
})

test('a delivery takes less than 40 bytes of the index once there are many', async () => {
  const subscriptionIds = Array.from({ length: 20 }, newSubscriptionId)
  const deliveries = 100_000
  for (let written = 0; written < deliveries; written += 2_000) {
    await write(Array.from({ length: 100 }, () => eventFor(subscriptionIds)))
  }
  const keys = await redis[run]((commands) => commands.keys('sh:{t:acme}:pending*'))
  const bytes = await redis[run]((commands) => Promise.all(keys.map((key) => commands.memory('USAGE', key))))
  expect(bytes.reduce<number>((sum, of) => sum + (of ?? 0), 0) / deliveries).toBeLessThan(40)
})
