import { type EventType, subjectOf } from '@switchhook/contracts'
import { eventually, useRedis } from '@switchhook/testkit'
import { openRedis, type Redis } from '../redis/redis.ts'
import { createEventList, type EventQuery } from './event-list.ts'
import { createJournal, type LoggedEvent } from './journal.ts'
import { createJournalReader } from './journal-reader.ts'
import { aLoggedEvent } from './testing/a-logged-event.ts'

const HOUR_MS = 3_600_000
const limits = { size: 20_000, retentionMs: HOUR_MS, deliveryRetentionMs: HOUR_MS }

let redis: Redis
let tenant: string
let tenants = 0

useRedis(openRedis, (opened) => ({ redis } = opened))

beforeEach(() => {
  tenants += 1
  tenant = `tenant-${tenants}`
})

const anEvent = (subject: Parameters<typeof subjectOf>[0] = {}, eventType: EventType = 'call.status'): LoggedEvent =>
  aLoggedEvent({ eventType, tenant, subject: subjectOf(subject) })

const write = (events: readonly LoggedEvent[], more: Partial<typeof limits> = {}): Promise<void> =>
  createJournal(redis, { ...limits, ...more }).append(events)

const read = (query: Partial<EventQuery> = {}, of: string | null = tenant, retentionMs = HOUR_MS) =>
  createEventList(createJournalReader(redis, { ...limits, retentionMs })).page(of, { limit: 20, ...query })

const idsIn = async (query: Partial<EventQuery> = {}): Promise<string[]> =>
  (await read(query)).items.map(({ eventId }) => eventId)

test('an event without a subscription is listed with its subject, for its tenant only', async () => {
  const event = anEvent({ callId: 'c-1', agentUri: 'sip:a@acme.example', correlationId: 'crm "1"' })
  await write([event])
  const { items, nextCursor } = await read()
  expect(nextCursor).toBeNull()
  expect(items).toEqual([
    {
      eventId: event.eventId,
      eventType: 'call.status',
      occurredAt: event.occurredAt,
      listedAt: expect.stringMatching(/Z$/),
      callId: 'c-1',
      agentUri: 'sip:a@acme.example',
      correlationId: 'crm "1"',
      number: null,
    },
  ])
  expect(Math.abs(Date.parse(items[0]?.listedAt ?? '') - Date.now())).toBeLessThan(10_000)
  expect(await read({}, 'somebody-else')).toEqual({ items: [], nextCursor: null })
  expect(await read({}, null)).toEqual({ items: [], nextCursor: null })
})

test('events are found by call, agent, correlation and type, the newest first', async () => {
  const first = anEvent({
    callId: 'c-1',
    agentUri: 'sip:a@b',
    correlationId: 'crm-1',
    remoteParty: { number: '+49304711' },
  })
  const second = anEvent({ callId: 'c-1', agentUri: 'sip:b@b' })
  const third = anEvent({ agentUri: 'sip:a@b' }, 'agent.status')
  await write([first, second, third])
  const ids = (...events: readonly LoggedEvent[]) => events.map(({ eventId }) => eventId)
  expect(await idsIn()).toEqual(ids(third, second, first))
  expect(await idsIn({ callId: 'c-1' })).toEqual(ids(second, first))
  expect(await idsIn({ agentUri: 'sip:a@b' })).toEqual(ids(third, first))
  expect(await idsIn({ agentUri: 'sip:a@b', eventType: 'call.status' })).toEqual(ids(first))
  expect(await idsIn({ correlationId: 'crm-1' })).toEqual(ids(first))
  expect(await idsIn({ callId: 'c' })).toEqual([])
  expect(await idsIn({ number: '+49304711' })).toEqual(ids(first))
  expect(await idsIn({ number: '+49304712' })).toEqual([])
})

test('an event that is fanned out twice is listed once, and the oldest events are removed', async () => {
  const events = Array.from({ length: 4 }, () => anEvent())
  for (const event of events) await write([event], { size: 3 })
  await write(events.slice(1, 2), { size: 3 })
  expect(await idsIn()).toEqual(
    events
      .slice(1)
      .map(({ eventId }) => eventId)
      .toReversed(),
  )
})

test('no event is listed that is older than the journal keeps', async () => {
  await write([anEvent()])
  await eventually(async () => expect((await read({}, tenant, 1)).items).toEqual([]))
  expect((await read({ fromMs: 0 }, tenant, 1)).items).toEqual([])
  expect((await read({ toMs: 0 })).items).toEqual([])
  expect((await read({ fromMs: 0 })).items).toHaveLength(1)
})

test('new events do not shift the pages, and a time range bounds them', async () => {
  const events = Array.from({ length: 5 }, () => anEvent())
  await write(events)
  const first = await read({ limit: 2 })
  await write([anEvent()])
  const second = await read({ limit: 2, cursor: first.nextCursor ?? '' })
  const third = await read({ limit: 2, cursor: second.nextCursor ?? '' })
  const read5 = [first, second, third].flatMap(({ items }) => items.map(({ eventId }) => eventId))
  expect(read5).toEqual(events.map(({ eventId }) => eventId).toReversed())
  expect(third.nextCursor).toBeNull()
  expect(await idsIn({ toMs: Date.now() - 60_000 })).toEqual([])
  expect(await idsIn({ fromMs: Date.now() + 60_000 })).toEqual([])
  expect(await idsIn({ fromMs: Date.now() - 60_000, toMs: Date.now() + 60_000 })).toHaveLength(6)
})

test('one event among six thousand is found with two requests', async () => {
  const wanted = anEvent({ callId: 'c-1' })
  await write([wanted])
  for (let i = 0; i < 3; i++) await write(Array.from({ length: 2_000 }, () => anEvent()))
  const first = await read({ callId: 'c-1' })
  expect(first.items).toEqual([])
  const second = await read({ callId: 'c-1', cursor: first.nextCursor ?? '' })
  expect(second.items.map(({ eventId }) => eventId)).toEqual([wanted.eventId])
  expect(second.nextCursor).toBeNull()
})

test.each(['', 'x', 'MTIz', Buffer.from('l123').toString('base64url')])('the cursor %j is rejected', async (cursor) => {
  await expect(read({ cursor })).rejects.toMatchObject({ code: 'invalid-request' })
})
