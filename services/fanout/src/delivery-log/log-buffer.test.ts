import { once } from 'node:events'
import { newEventId, newSubscriptionId, Unavailable } from '@switchhook/contracts'
import { sharedWake } from '@switchhook/runtime'
import type { LoggedEvent } from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import { createLogBuffer } from './log-buffer.ts'

const LIMITS = { batch: 20, most: 60, retryMs: 5 }

const anEvent = (deliveries = 1): LoggedEvent => ({
  eventId: newEventId(),
  eventType: 'call.status',
  tenant: 'acme',
  occurredAt: '2026-11-20T08:29:59.500Z',
  fannedOutAt: '2026-11-20T08:30:00.000Z',
  subscriptionIds: Array.from({ length: deliveries }, newSubscriptionId),
  subject: { callId: null, agentUri: null, correlationId: null },
})

/** A buffer on top of the given store. */
function aBuffer(store: (batch: readonly LoggedEvent[]) => Promise<void>) {
  const written: (readonly LoggedEvent[])[] = []
  const warnings: string[] = []
  const drops: number[] = []
  const buffer = createLogBuffer(
    {
      writes: [
        async (batch) => {
          await store(batch)
          written.push(batch)
        },
      ],
      dropped: (entries) => void drops.push(entries),
      log: { warn: (message) => void warnings.push(message) },
    },
    LIMITS,
  )
  const dropped = (): number => drops.reduce((sum, entries) => sum + entries, 0)
  return { buffer, written, warnings, dropped }
}

const works = () => Promise.resolve()

test('events that arrive together are written together, in order', async () => {
  const { buffer, written } = aBuffer(works)
  const events = [anEvent(), anEvent(0), anEvent()]
  for (const event of events) buffer.add(event)
  expect(written).toEqual([])
  await eventually(() => expect(written).toEqual([events]))
})

test('a batch exceeds the batch size by its last event at most', async () => {
  const { buffer, written } = aBuffer(works)
  const events = Array.from({ length: 25 }, () => anEvent())
  for (const event of events) buffer.add(event)
  await buffer.close()
  expect(written.map(({ length }) => length)).toEqual([10, 10, 5])
  expect(written.flat()).toEqual(events)
})

test('what exceeds a batch does not wait for further wake-ups', async () => {
  const { buffer, written } = aBuffer(works)
  for (let n = 0; n < 25; n++) buffer.add(anEvent())
  await sharedWake()
  await new Promise(setImmediate)
  expect(written.map(({ length }) => length)).toEqual([10, 10])
})

test('events that fit the limit survive an outage of the store, and are written in order afterwards', async () => {
  let isAway = true
  let refused = 0
  const { buffer, written, dropped, warnings } = aBuffer(async () => {
    if (!isAway) return
    refused += 1
    throw new Unavailable('redis', 'away')
  })
  const events = Array.from({ length: 30 }, () => anEvent())
  for (const event of events) buffer.add(event)
  await eventually(() => expect(refused).toBeGreaterThan(0))
  isAway = false
  await eventually(() => expect(written.flat()).toEqual(events))
  expect([dropped(), warnings]).toEqual([0, []])
})

test('beyond the limit the oldest events are dropped and counted, and logged once', async () => {
  let isAway = true
  const { buffer, written, dropped, warnings } = aBuffer(async () => {
    if (isAway) throw new Unavailable('redis', 'away')
  })
  const events = Array.from({ length: 100 }, () => anEvent())
  for (const event of events) buffer.add(event)
  await eventually(() => expect(dropped()).toBe(140))
  isAway = false
  await eventually(() => expect(written.flat()).toEqual(events.slice(70)))
  expect(warnings).toHaveLength(1)
})

test('a write that hangs blocks no caller, and memory stays within the limit', async () => {
  const stuck = new EventTarget()
  let writes = 0
  const { buffer, written, dropped } = aBuffer(async () => {
    writes += 1
    await once(stuck, 'go')
  })
  buffer.add(anEvent())
  await eventually(() => expect(writes).toBe(1))
  for (let n = 0; n < 1_000; n++) buffer.add(anEvent())
  expect(dropped()).toBe(2_000 - LIMITS.most)
  stuck.dispatchEvent(new Event('go'))
  await eventually(() => expect(written).toHaveLength(1))
})

test('events that the store refuses are dropped, and later ones are written', async () => {
  let refuses = true
  const { buffer, written, dropped, warnings } = aBuffer(async () => {
    if (refuses) throw new Error('WRONGTYPE')
  })
  buffer.add(anEvent(4))
  await eventually(() => expect(dropped()).toBe(5))
  refuses = false
  const next = anEvent()
  buffer.add(next)
  await eventually(() => expect(written).toEqual([[next]]))
  expect(warnings).toHaveLength(1)
})

test('events that the delivery log refuses are journaled, once, and counted as dropped', async () => {
  const journaled: (readonly LoggedEvent[])[] = []
  const drops: number[] = []
  const buffer = createLogBuffer(
    {
      writes: [() => Promise.reject(new Error('WRONGTYPE')), async (batch) => void journaled.push(batch)],
      dropped: (entries) => void drops.push(entries),
      log: { warn: () => {} },
    },
    LIMITS,
  )
  const [event, last] = [anEvent(4), anEvent(2)]
  buffer.add(event)
  await eventually(() => expect(journaled).toEqual([[event]]))
  buffer.add(last)
  await buffer.close()
  expect(journaled).toEqual([[event], [last]])
  expect(drops).toEqual([5, 3])
})

test('an event larger than the limit is written', async () => {
  const { buffer, written, dropped } = aBuffer(works)
  const large = anEvent(LIMITS.most * 2)
  buffer.add(large)
  await eventually(() => expect(written).toEqual([[large]]))
  expect(dropped()).toBe(0)
})

test('closing writes the remaining events, and ends even if that fails', async () => {
  const { buffer, written } = aBuffer(works)
  const event = anEvent()
  buffer.add(event)
  await buffer.close()
  expect(written).toEqual([[event]])

  const away = aBuffer(() => Promise.reject(new Unavailable('redis', 'away')))
  away.buffer.add(event)
  await away.buffer.close()
  expect(away.written).toEqual([])
})
