import { setImmediate } from 'node:timers/promises'
import { newEventId, subjectOf } from '@switchhook/contracts'
import {
  BEGINNING,
  isBefore,
  type JournalEntry,
  type JournalId,
  journalIdAt,
  type LiveAttempts,
} from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import type { EventOutput } from '../../http/event-output.ts'
import { createLiveHub, type LiveHub } from './live-hub.ts'

const hubs: LiveHub[] = []

afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close()))
})

function aHub(mostPerTenant = 10, mostPerClient = 10) {
  const entries: JournalEntry[] = []
  const batches: LiveAttempts[] = []
  /** `most`: how many reads of one kind were in progress at the same time. */
  const reads = { journal: 0, asked: 0, isAway: false, most: 0 }
  const inProgress = new Map<number, number>()
  const hub = createLiveHub({
    journal: {
      newest: async () => entries.at(-1)?.id ?? '0-0',
      read: async (_tenant, id) => entries.find((entry) => entry.id === id),
      hasAll: async () => entries.length === 0 || entries[0]?.id === journalIdAt(first),
      after: async (_tenant, place, count) => {
        reads.journal += 1
        if (reads.isAway) throw new Error('Redis is away')
        const others = inProgress.get(count) ?? 0
        reads.most = Math.max(reads.most, others + 1)
        inProgress.set(count, others + 1)
        await setImmediate()
        inProgress.set(count, (inProgress.get(count) ?? 0) - 1)
        return entries.filter(({ id }) => isBefore(place, id)).slice(0, count)
      },
    },
    attempts: {
      listen: async () => void (reads.asked += 1),
      newest: async () => batches.at(-1)?.id ?? '0-0',
      after: async (_tenant, place) => batches.filter(({ id }) => isBefore(place, id)),
    },
    config: { STREAM_LISTENERS_PER_TENANT: mostPerTenant, STREAM_LISTENERS_PER_CLIENT: mostPerClient },
    log: { warn: () => {}, info: () => {} },
  })
  hubs.push(hub)
  const first = 1_000_001
  let micros = first - 1
  const happen = (): void => {
    const common = {
      eventType: 'call.status' as const,
      occurredAt: '',
      fannedOutAt: '',
      subject: subjectOf({}),
      dataJson: '{}',
    }
    const id = journalIdAt((micros += 1))
    entries.push({ ...common, id, eventId: newEventId(), subscriptionIds: [], subscriptionCount: 0 })
  }
  return { hub, reads, batches, happen, trim: () => void entries.splice(0, entries.length - 1) }
}

async function listen(hub: LiveHub, tenant = 'acme', client?: string, resumeAfter?: JournalId, isCut = false) {
  const written: string[] = []
  const closers: (() => void)[] = []
  const output: EventOutput = {
    write: (text) => void written.push(text),
    bufferedBytes: () => 0,
    isClosed: () => false,
    closed: (listener) => void closers.push(listener),
    end: () => {},
    destroy: () => {},
  }
  const seat = await hub.take(tenant, client)
  seat.start(output, { filter: {}, resumeAfter, isCut, closeInMs: undefined })
  const count = (name: string): number => written.join('').split(`event: ${name}\n`).length - 1
  const leave = (): void => {
    for (const close of closers) close()
  }
  return { count, leave }
}

test('the listeners of one tenant catch up in turns, whatever clients it invents; those of another do not wait', async () => {
  const { hub, reads, happen } = aHub()
  for (let n = 0; n < 200; n += 1) happen()
  const own = await Promise.all(['crm', 'crm', 'invented'].map((client) => listen(hub, 'acme', client, BEGINNING)))
  await eventually(() => expect(own.map(({ count }) => count('event'))).toEqual([200, 200, 200]))
  expect(reads.most).toBe(1)
  const both = await Promise.all(['acme', 'globex'].map((tenant) => listen(hub, tenant, `crm of ${tenant}`, BEGINNING)))
  await eventually(() => expect(both.map(({ count }) => count('event'))).toEqual([200, 200]))
  expect(reads.most).toBe(2)
})

test('a tenant is read once, however many listeners it has, and not at all without listeners', async () => {
  const { hub, reads, happen } = aHub()
  expect(reads).toMatchObject({ journal: 0, asked: 0 })
  const listeners = await Promise.all(Array.from({ length: 5 }, () => listen(hub)))
  happen()
  await eventually(() => expect(listeners.map(({ count }) => count('event'))).toEqual([1, 1, 1, 1, 1]))
  expect(reads.asked).toBe(1)
  expect(hub.count()).toBe(5)
  for (const { leave } of listeners) leave()
  expect(hub.count()).toBe(0)
  // At most the read that had begun.
  await eventually(async () => {
    const before = reads.journal
    await new Promise((resolve) => void setTimeout(resolve, 300))
    expect(reads.journal).toBe(before)
  })
})

test('after Redis was away, listeners get a gap and the events of the meantime', async () => {
  const { hub, reads, happen } = aHub()
  const { count } = await listen(hub)
  reads.isAway = true
  happen()
  const before = reads.journal
  await eventually(() => expect(reads.journal).toBeGreaterThan(before))
  reads.isAway = false
  await eventually(() => expect([count('gap'), count('event')]).toEqual([1, 1]))
})

test('events that were trimmed before they were read are reported as a gap', async () => {
  const { hub, happen, trim } = aHub()
  happen()
  const { count } = await listen(hub)
  for (let i = 0; i < 10; i++) happen()
  trim()
  await eventually(() => expect([count('gap'), count('event')]).toEqual([1, 1]))
  happen()
  await eventually(() => expect([count('gap'), count('event')]).toEqual([1, 2]))
})

test.each([
  ['gets a gap if it has lost events since', true, false, 1],
  ['gets no gap if it has lost none', false, false, 0],
  ['gets no gap if it asks for what the journal has', true, true, 0],
])('a listener with the place of an empty journal %s', async (_case, isTrimmed, isCut, gaps) => {
  const { hub, happen, trim } = aHub()
  for (let i = 0; i < 10; i++) happen()
  if (isTrimmed) trim()
  const { count } = await listen(hub, 'acme', undefined, BEGINNING, isCut)
  await eventually(() => expect(count('event')).toBe(isTrimmed ? 1 : 10))
  expect(count('gap')).toBe(gaps)
})

test('attempts that a worker left out are reported as a gap', async () => {
  const { hub, batches } = aHub()
  const { count } = await listen(hub)
  batches.push({ id: '5-0', attempts: [], left: 3 })
  await eventually(() => expect(count('gap')).toBe(1))
})

test('a tenant has a limit of listeners, and a seat is free again once its listener has left', async () => {
  const { hub } = aHub(1)
  const { leave } = await listen(hub)
  await expect(hub.take('acme')).rejects.toMatchObject({ code: 'too-many-listeners' })
  await listen(hub, 'globex')
  leave()
  await expect(hub.take('acme')).resolves.toBeDefined()
})

test('a client has a limit of its own, and leaves the other seats of its tenant to others', async () => {
  const { hub } = aHub(3, 2)
  const [first] = [await listen(hub, 'acme', 'crm'), await listen(hub, 'acme', 'crm')]
  await expect(hub.take('acme', 'crm')).rejects.toMatchObject({
    code: 'too-many-client-listeners',
    headers: { 'Retry-After': '10' },
  })
  await listen(hub, 'acme', 'erp')
  first?.leave()
  await listen(hub, 'acme', 'crm')
  await expect(hub.take('acme', 'other')).rejects.toMatchObject({ code: 'too-many-listeners' })
})

test('callers without a client share only the limit of their tenant', async () => {
  const { hub } = aHub(3, 1)
  for (let i = 0; i < 3; i++) await listen(hub)
  await expect(hub.take('acme')).rejects.toMatchObject({ code: 'too-many-listeners' })
})

test('a seat that could not be opened is free again', async () => {
  const away = () => Promise.reject(new Error('Redis is away'))
  const hub = createLiveHub({
    journal: { newest: away, read: away, after: away, hasAll: away },
    attempts: { listen: away, newest: away, after: away },
    config: { STREAM_LISTENERS_PER_TENANT: 1, STREAM_LISTENERS_PER_CLIENT: 1 },
    log: { warn: () => {}, info: () => {} },
  })
  for (let i = 0; i < 3; i++) await expect(hub.take('acme', 'crm')).rejects.toThrow('Redis is away')
  expect(hub.count()).toBe(0)
})

test('a listener over the limit is refused without a question to Redis', async () => {
  let asked = 0
  const away = () => {
    asked += 1
    return Promise.reject(new Error('Redis is away'))
  }
  const hub = createLiveHub({
    journal: { newest: away, read: away, after: away, hasAll: away },
    attempts: { listen: away, newest: away, after: away },
    config: { STREAM_LISTENERS_PER_TENANT: 0, STREAM_LISTENERS_PER_CLIENT: 1 },
    log: { warn: () => {}, info: () => {} },
  })
  await expect(hub.take('acme')).rejects.toMatchObject({ code: 'too-many-listeners' })
  expect(asked).toBe(0)
})

test('a closed hub takes no listeners', async () => {
  const { hub } = aHub()
  await hub.close()
  await expect(hub.take('acme')).rejects.toMatchObject({ code: 'service-unavailable' })
})
