import { newEventId, newSubscriptionId, type Tenant } from '@switchhook/contracts'
import { eventually, useRedis } from '@switchhook/testkit'
import * as fc from 'fast-check'
import { journalIndexKey, journalKey, recipientsKey, refusedKey } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createJournal, type LoggedEvent, MAX_DATA_BYTES, MAX_SUBSCRIPTIONS } from './journal.ts'
import { BEGINNING, createJournalReader, isBefore, type JournalReader } from './journal-reader.ts'
import { aLoggedEvent } from './testing/a-logged-event.ts'

const limits = { size: 10, retentionMs: 60_000, deliveryRetentionMs: 60_000 }

let redis: Redis
let reader: JournalReader
let tenants = 0

useRedis(openRedis, (opened) => ({ redis } = opened))
beforeAll(() => {
  reader = createJournalReader(redis, limits)
})

const newTenant = (): string => `tenant-${++tenants}`

const anEvent = (tenant: Tenant, change: Partial<LoggedEvent> = {}): LoggedEvent =>
  aLoggedEvent({ tenant, dataJson: '{"callId":"c-1","amount":1.0,"name":"Zoë"}', ...change })

const append = (events: readonly LoggedEvent[], more: Partial<typeof limits> = {}): Promise<void> =>
  createJournal(redis, { ...limits, ...more }).append(events)

const idsOf = async (tenant: string): Promise<string[]> =>
  (await reader.after(tenant, BEGINNING, 1_000)).map(({ eventId }) => eventId)

test('an event is found by its id, with its data unchanged and the subscriptions that it went to', async () => {
  const tenant = newTenant()
  const subscriptionIds = [newSubscriptionId(), newSubscriptionId()]
  const subject = { callId: 'c-1', agentUri: null, correlationId: 'crm "1"', number: '+4930' }
  const event = anEvent(tenant, { subscriptionIds, subject })
  await append([event])
  const { eventId, eventType, occurredAt, fannedOutAt, dataJson } = event
  const entry = await reader.find(tenant, eventId)
  expect(entry).toEqual({
    id: expect.stringMatching(/^\d{13}-\d{1,3}$/),
    eventId,
    eventType,
    occurredAt,
    fannedOutAt,
    subject,
    dataJson,
    subscriptionIds,
    subscriptionCount: 2,
  })
  expect(await reader.read(tenant, entry?.id ?? '')).toEqual(entry)
  expect(await reader.find(newTenant(), eventId)).toBeUndefined()
})

test('the place before a time is the beginning if no entry is older, whatever the time', async () => {
  const tenant = newTenant()
  await append([anEvent(tenant)])
  const times = ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '2020-01-01T00:00:00Z'].map(Date.parse)
  for (const ms of times) expect(await reader.before(tenant, ms)).toBe(BEGINNING)
  expect(await reader.before(tenant, Date.parse('9999-12-31T23:59:59Z'))).toBe(await reader.newest(tenant))
})

test('a journal has all of its entries until some are removed', async () => {
  const tenant = newTenant()
  expect(await reader.hasAll(tenant)).toBe(true)
  await append(Array.from({ length: limits.size }, () => anEvent(tenant)))
  expect(await reader.hasAll(tenant)).toBe(true)
  await append([anEvent(tenant)])
  expect(await reader.hasAll(tenant)).toBe(false)
})

test('a journal with an entry over its age does not have all', async () => {
  const tenant = newTenant()
  await append([anEvent(tenant)])
  const later = createJournalReader(redis, { ...limits, retentionMs: -1 })
  expect(await later.hasAll(tenant)).toBe(false)
  // Whoever begins after that entry would get a gap.
  expect(await later.before(tenant, Date.now() + 1_000)).toBe(BEGINNING)
})

test('an event that is written again keeps its one place', async () => {
  const tenant = newTenant()
  const [first, second] = [anEvent(tenant), anEvent(tenant)]
  await append([first])
  await append([second, first, second])
  expect(await idsOf(tenant)).toEqual([first.eventId, second.eventId])
})

test('at most the latest `size` events of each tenant are kept, and the index loses the same', async () => {
  const [tenant, other] = [newTenant(), newTenant()]
  const events = Array.from({ length: 25 }, () => anEvent(tenant))
  await append([anEvent(other), ...events.slice(0, 12)])
  await append(events.slice(12))
  expect(await idsOf(tenant)).toEqual(events.slice(-10).map(({ eventId }) => eventId))
  expect(await idsOf(other)).toHaveLength(1)
  expect(await redis[execute]((commands) => commands.zcard(journalIndexKey(tenant)))).toBe(10)
  expect(await reader.find(tenant, events[0]?.eventId ?? newEventId())).toBeUndefined()
})

test('a journal has at most a 32nd more than its size, and the index has the same events', async () => {
  const tenant = newTenant()
  const size = 64
  const lengths = (): Promise<number[]> =>
    redis[execute]((commands) =>
      Promise.all([commands.xlen(journalKey(tenant)), commands.zcard(journalIndexKey(tenant))]),
    )
  await append(
    Array.from({ length: size + 2 }, () => anEvent(tenant)),
    { size },
  )
  expect(await lengths()).toEqual([size + 2, size + 2])
  await append([anEvent(tenant)], { size })
  expect(await lengths()).toEqual([size, size])
})

test('events older than the retention are not shown, are removed with the next event, and expire without one', async () => {
  const tenant = newTenant()
  await append([anEvent(tenant)])
  const shortLived = createJournalReader(redis, { ...limits, retentionMs: 1 })
  await eventually(async () => expect(await shortLived.after(tenant, BEGINNING, 10)).toEqual([]))
  const next = anEvent(tenant)
  await append([next], { retentionMs: 200 })
  await eventually(async () => {
    await append([anEvent(tenant)], { retentionMs: 200 })
    expect(await idsOf(tenant)).not.toContain(next.eventId)
  })
  const left = await Promise.all(
    [journalKey(tenant), journalIndexKey(tenant)].map((key) => redis[execute]((commands) => commands.pttl(key))),
  )
  for (const ms of left) expect(ms).toBeGreaterThan(0)
})

test('too large data is left out, and long lists of subscriptions are cut and kept apart', async () => {
  const tenant = newTenant()
  const large = anEvent(tenant, { dataJson: JSON.stringify({ text: 'ü'.repeat(MAX_DATA_BYTES / 2) }) })
  const wide = anEvent(tenant, { subscriptionIds: Array.from({ length: 150 }, newSubscriptionId) })
  await append([large, wide])
  expect(await idsOf(tenant)).toEqual([large.eventId, wide.eventId])
  expect(await reader.find(tenant, large.eventId)).toMatchObject({ dataJson: null })
  const cut = await reader.find(tenant, wide.eventId)
  expect(cut).toMatchObject({ subscriptionCount: 150, dataJson: wide.dataJson })
  if (cut === undefined) throw new Error('it was appended')
  expect(cut.subscriptionIds).toHaveLength(MAX_SUBSCRIPTIONS)
  expect(await reader.recipients(cut)).toEqual(wide.subscriptionIds)
  const key = recipientsKey(wide.eventId)
  expect(await redis[execute]((commands) => commands.pttl(key))).toBeLessThanOrEqual(limits.deliveryRetentionMs)
  await redis[execute]((commands) => commands.del(key))
  expect(await reader.recipients(cut)).toBeUndefined()
})

test('with a size of 0, no data is written or shown, and an event is kept as long as a delivery', async () => {
  const tenant = newTenant()
  const [earlier, event] = [anEvent(tenant), anEvent(tenant)]
  await append([earlier])
  await append([event], { size: 0 })
  expect(await reader.find(tenant, event.eventId)).toMatchObject({ dataJson: null })
  const off = createJournalReader(redis, { ...limits, size: 0, retentionMs: 1 })
  expect(off.isOn).toBe(false)
  for (const { eventId } of [earlier, event]) {
    expect(await off.find(tenant, eventId)).toMatchObject({ eventId, dataJson: null })
  }
  const later = createJournalReader(redis, { ...limits, size: 0, deliveryRetentionMs: -1 })
  expect(await later.find(tenant, event.eventId)).toBeUndefined()
})

test('a delivery without a record is pending until those that were settled immediately may have expired', async () => {
  const nowMs = Date.now()
  const isRecent = await reader.recent(newTenant())
  expect([nowMs, nowMs - 45_000, nowMs - 55_000, nowMs - 3_600_000].map(isRecent)).toEqual([true, true, false, false])
})

test('a delivery that was fanned out before a record was kept for less time is not pending, because its record may have expired', async () => {
  const [tenant, nowMs] = [newTenant(), Date.now()]
  const hourly = createJournalReader(redis, { ...limits, deliveryRetentionMs: 3_600_000 })
  const refusedAt = (atMs: number) => redis[execute]((commands) => commands.set(refusedKey(tenant, 'settled'), atMs))
  await refusedAt(nowMs - 300_000)
  // Clocks differ.
  expect([-285_000, -295_000, -305_000].map((ms) => nowMs + ms).map(await hourly.recent(tenant))).toEqual([
    true,
    false,
    false,
  ])
  expect((await hourly.recent(newTenant()))(nowMs - 305_000)).toBe(true)
  await refusedAt(nowMs)
  // Each record lasts for a minute.
  expect([-45_000, -55_000].map((ms) => nowMs + ms).map(await hourly.recent(tenant))).toEqual([true, false])
})

test('pages of any sizes show every event once and in order, whatever is appended meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 8 }), async (sizes) => {
      const tenant = newTenant()
      const written: LoggedEvent[] = []
      const shown: string[] = []
      let place = BEGINNING
      for (const size of [...sizes, 1_000]) {
        const events = Array.from({ length: size % 4 }, () => anEvent(tenant))
        written.push(...events)
        await append(events, { size: 100 })
        const page = await reader.after(tenant, place, size)
        for (const { id } of page) {
          expect(isBefore(place, id)).toBe(true)
          place = id
        }
        shown.push(...page.map(({ eventId }) => eventId))
      }
      expect(shown).toEqual(written.map(({ eventId }) => eventId))
    }),
    { numRuns: 20 },
  )
})
