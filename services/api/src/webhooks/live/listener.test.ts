import { newEventId, subjectOf } from '@switchhook/contracts'
import { BEGINNING, isBefore, type JournalEntry, journalIdAt } from '@switchhook/store'
import { createParser } from 'eventsource-parser'
import * as fc from 'fast-check'
import type { EventOutput } from '../../http/event-output.ts'
import { type Listener, type LiveBatch, startListener } from './listener.ts'
import { type LiveFilter, liveAttempt, liveEvent } from './live-events.ts'

const entryAt = (micros: number, data: object = { callId: 'c-1' }): JournalEntry => ({
  id: journalIdAt(micros),
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T17:06:01.101Z',
  fannedOutAt: '2026-11-20T17:06:01.109Z',
  subscriptionIds: [],
  subscriptionCount: 0,
  subject: subjectOf({ ...data }),
  dataJson: JSON.stringify(data),
})

const batchOf = (entries: readonly JournalEntry[], change: Partial<LiveBatch> = {}): LiveBatch => ({
  events: entries.map(liveEvent),
  attempts: [],
  isGap: false,
  place: entries.at(-1)?.id ?? '0-0',
  ...change,
})

/** An output whose client reads only when the test says so. */
function scripted() {
  const written: string[] = []
  const state = { buffered: 0, isReading: true, isClosed: false, isDestroyed: false }
  const output: EventOutput = {
    write: (text) => {
      written.push(text)
      if (!state.isReading) state.buffered += text.length
    },
    bufferedBytes: () => state.buffered,
    isClosed: () => state.isClosed,
    closed: () => {},
    end: () => {
      state.isClosed = true
    },
    destroy: () => {
      state.isClosed = true
      state.isDestroyed = true
    },
  }
  /** What a client sees that uses the parser of the console. */
  const received = () => {
    const events: { readonly event: string; readonly id?: string; readonly data: Record<string, unknown> }[] = []
    const parser = createParser({
      onEvent: ({ event = '', id, data }) =>
        void events.push({ event, ...(id !== undefined && { id }), data: JSON.parse(data) }),
    })
    parser.feed(written.join(''))
    return events
  }
  const shown = () => received().filter(({ event }) => event !== 'place')
  const places = () => received().filter(({ event }) => event === 'place')
  return { output, state, written, shown, places }
}

/** A journal of one tenant and the place up to which its stream has been read. */
function journalOf(entries: JournalEntry[]) {
  const journal = {
    entries,
    place: '0-0',
    history: {
      after: async (place: string, count: number) =>
        journal.entries.filter(({ id }) => isBefore(place, id)).slice(0, count),
      keeps: async (place: string) => place === BEGINNING || journal.entries.some(({ id }) => id === place),
    },
  }
  return journal
}

function listen(
  journal: ReturnType<typeof journalOf>,
  {
    filter = {},
    resumeAfter,
    isCut = false,
    nowMs = () => 0,
  }: { filter?: LiveFilter; resumeAfter?: string; isCut?: boolean; nowMs?: () => number } = {},
) {
  const client = scripted()
  const deps = { output: client.output, filter, history: journal.history, place: () => journal.place, nowMs }
  return { ...client, listener: startListener(deps, resumeAfter, isCut) }
}

const settled = () => new Promise((resolve) => void setImmediate(resolve))

test('a new listener gets the place at which it begins, and then every event with its id and data', () => {
  const journal = journalOf([])
  journal.place = '5-1'
  const { listener, shown, places } = listen(journal)
  expect(places()).toEqual([{ id: '5-1', event: 'place', data: { place: '5-1' } }])
  const entry = entryAt(6_000, { callId: 'c-1', amount: 1 })
  listener.offer(batchOf([entry]))
  expect(shown()).toEqual([
    {
      id: '6-0',
      event: 'event',
      data: {
        eventId: entry.eventId,
        eventType: 'call.status',
        occurredAt: entry.occurredAt,
        data: { callId: 'c-1', amount: 1 },
        subscriptions: [],
        subscriptionCount: 0,
      },
    },
  ])
})

test('the data is written exactly as journaled', () => {
  const { listener, written } = listen(journalOf([]))
  listener.offer(batchOf([{ ...entryAt(6_000), dataJson: '{"amount":1.0,"id":12345678901234567890}' }]))
  expect(written.at(-1)).toContain('"data":{"amount":1.0,"id":12345678901234567890}')
})

test.each<[LiveFilter, string[]]>([
  [{}, ['1-0', '2-0', '3-0', 'attempt']],
  [{ eventType: 'agent.status' }, ['3-0']],
  [{ callId: 'c-2' }, ['2-0', 'attempt']],
  [{ agentUri: 'sip:alice@acme.example' }, ['1-0', '3-0']],
  [{ agentUri: 'sip:alice@acme.example', eventType: 'call.status' }, ['1-0']],
  [{ subscriptionId: '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11' }, ['2-0', 'attempt']],
  [{ callId: 'c-3' }, []],
])('the filter %j shows %j', (filter, expected) => {
  const subscriptionId = '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11' as never
  const second = {
    ...entryAt(2_000, { callId: 'c-2', agentUri: 'sip:bob@acme.example' }),
    subscriptionIds: [subscriptionId],
    subscriptionCount: 1,
  }
  const { listener, shown } = listen(journalOf([]), { filter })
  listener.offer(
    batchOf(
      [
        entryAt(1_000, { callId: 'c-1', agentUri: 'sip:alice@acme.example' }),
        second,
        { ...entryAt(3_000, { agentUri: 'sip:alice@acme.example' }), eventType: 'agent.status' },
      ],
      {
        attempts: [
          liveAttempt({
            deliveryId: newEventId() as never,
            subscriptionId,
            eventId: second.eventId,
            eventType: 'call.status',
            callId: 'c-2',
            agentUri: 'sip:bob@acme.example',
            attempt: 1,
            at: '2026-11-20T17:06:01.101Z',
            outcome: 'answered',
            status: 503,
            durationMs: 12,
            state: 'waiting',
          }),
        ],
      },
    ),
  )
  expect(shown().map(({ event, id }) => id ?? event)).toEqual(expected)
})

test('an event to more subscriptions than are listed is shown for every subscription', () => {
  const { listener, shown } = listen(journalOf([]), { filter: { subscriptionId: newEventId() } })
  listener.offer(batchOf([{ ...entryAt(1_000), subscriptionCount: 101 }]))
  expect(shown()).toHaveLength(1)
})

test('a listener that resumes misses nothing and gets nothing twice, wherever it was cut off', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 6 }),
      fc.nat(),
      fc.nat(),
      async (sizes, cutAt, readTo) => {
        const journal = journalOf([])
        let micros = 1_000
        const more = (count: number) => Array.from({ length: count }, () => entryAt((micros += 7)))
        journal.entries = more(sizes[0] ?? 0)
        const resumeAfter = journal.entries[cutAt % Math.max(1, journal.entries.length)]?.id ?? '0-0'
        // The stream of the tenant may have been read further, or less far, than the listener has got.
        journal.place = journal.entries[readTo % Math.max(1, journal.entries.length)]?.id ?? '0-0'
        const { listener, shown } = listen(journal, { resumeAfter })
        const read = () => {
          const entries = journal.entries.filter(({ id }) => isBefore(journal.place, id)).slice(0, 10)
          journal.place = entries.at(-1)?.id ?? journal.place
          listener.offer(batchOf(entries, { place: journal.place }))
        }
        for (const size of sizes.slice(1)) {
          journal.entries = [...journal.entries, ...more(size)]
          if (size % 2 === 0) read()
          await settled()
        }
        for (let i = 0; i < 30; i++) {
          await settled()
          read()
        }
        const expected = journal.entries.filter(({ id }) => isBefore(resumeAfter, id)).map(({ id }) => id)
        expect(shown().map(({ id }) => id)).toEqual(expected)
      },
    ),
    { numRuns: 200 },
  )
})

test('a listener whose place was trimmed gets a gap before the oldest event', async () => {
  const journal = journalOf([entryAt(9_000), entryAt(9_001)])
  journal.place = '9-1'
  const { shown } = listen(journal, { resumeAfter: '3-0' })
  await settled()
  expect(shown().map(({ event, id, data }) => [event, id ?? data])).toEqual([
    ['gap', { after: '3-0', resumedAt: '9-0' }],
    ['event', '9-0'],
    ['event', '9-1'],
  ])
})

test('a listener that catches up too slowly gets a gap for what was trimmed meanwhile', async () => {
  const journal = journalOf(Array.from({ length: 200 }, (_, i) => entryAt(9_000 + i)))
  journal.place = '9-199'
  let reads = 0
  const after: typeof journal.history.after = (place, count) => {
    reads += 1
    if (reads === 2) journal.entries = journal.entries.slice(120)
    return journal.history.after(place, count)
  }
  const { shown } = listen({ ...journal, history: { ...journal.history, after } }, { resumeAfter: '9-0' })
  for (let i = 0; i < 10; i++) await settled()
  const seen = shown().map(({ event, id, data }) => id ?? [event, data])
  expect([seen[49], seen[50], seen[51], seen.at(-1)]).toEqual([
    '9-50',
    ['gap', { after: '9-50', resumedAt: '9-120' }],
    '9-120',
    '9-199',
  ])
})

test('a listener with a place in the future gets a gap and the next events', async () => {
  const journal = journalOf([entryAt(9_000)])
  journal.place = '9-0'
  const { listener, shown } = listen(journal, { resumeAfter: '9999999999999-0' })
  await settled()
  listener.offer(batchOf([entryAt(9_001)]))
  expect(shown().map(({ event, id, data }) => [event, id ?? data])).toEqual([
    ['gap', { after: '9999999999999-0', resumedAt: '9-0' }],
    ['event', '9-1'],
  ])
})

test.each([false, true])(
  'a listener that catches up for long gets its place meanwhile (journal cut: %s)',
  async (isCut) => {
    const journal = journalOf(Array.from({ length: 200 }, (_, i) => entryAt(9_000 + i)))
    journal.place = '9-199'
    const clock = { ms: 0 }
    let reads = 0
    const after: typeof journal.history.after = (place, count) =>
      ++reads === 3 ? new Promise(() => {}) : journal.history.after(place, count)
    const { listener, places } = listen(
      { ...journal, history: { ...journal.history, after } },
      { filter: { callId: 'none' }, resumeAfter: '0-0', isCut, nowMs: () => clock.ms },
    )
    listener.tick()
    clock.ms = 15_000
    listener.tick()
    // Whoever resumed at the beginning of a journal that was cut would get a gap.
    const first = isCut ? [] : ['0-0', '0-0']
    expect(places().map(({ id }) => id)).toEqual(first)
    for (let i = 0; i < 10; i++) await settled()
    clock.ms = 30_000
    listener.tick()
    expect(places().map(({ id }) => id)).toEqual([...first, '9-99'])
  },
)

test('the history is not read any further for a listener that has left', async () => {
  const journal = journalOf(Array.from({ length: 500 }, (_, i) => entryAt(9_000 + i)))
  journal.place = '9-499'
  let reads = 0
  let leave = (): void => {}
  const after: typeof journal.history.after = (place, count) => {
    reads += 1
    if (reads === 2) leave()
    return journal.history.after(place, count)
  }
  const { state } = listen(
    { ...journal, history: { ...journal.history, after } },
    { filter: { callId: 'none' }, resumeAfter: '0-0' },
  )
  leave = () => {
    state.isClosed = true
  }
  for (let i = 0; i < 20; i++) await settled()
  expect(reads).toBe(2)
})

test('if the history cannot be read, the connection is closed, so that the client comes back', async () => {
  const journal = journalOf([])
  const away = () => Promise.reject(new Error('away'))
  const { state } = listen({ ...journal, history: { after: away, keeps: away } }, { resumeAfter: '3-0' })
  await settled()
  expect(state.isDestroyed).toBe(true)
})

describe('a listener that does not read', () => {
  const MANY = Array.from({ length: 2_000 }, (_, i) => entryAt(10_000 + i, { text: 'x'.repeat(1_000) }))

  function blocked() {
    const clock = { ms: 0 }
    const all = listen(journalOf([]), { nowMs: () => clock.ms })
    all.state.isReading = false
    return { ...all, clock }
  }

  test('costs a bounded amount of memory', () => {
    const { listener, state } = blocked()
    for (const entry of MANY) listener.offer(batchOf([entry]))
    expect(state.buffered).toBeLessThan(140 * 1_024)
  })

  test('gets a gap as soon as it reads again, and continues after it', () => {
    const { listener, state, shown } = blocked()
    listener.offer(batchOf(MANY))
    const lastSeen = shown().at(-1)?.id
    state.buffered = 0
    state.isReading = true
    const next = entryAt(50_000)
    listener.offer(batchOf([next]))
    expect(shown().slice(-2)).toMatchObject([
      { event: 'gap', data: { after: lastSeen, resumedAt: next.id } },
      { event: 'event', id: next.id },
    ])
  })

  test('gets the gap without a further event', () => {
    const { listener, state, shown } = blocked()
    listener.offer(batchOf(MANY))
    state.buffered = 0
    state.isReading = true
    listener.tick()
    expect(shown().at(-1)).toMatchObject({ event: 'gap', data: { resumedAt: MANY.at(-1)?.id } })
  })

  test('is closed after 30 seconds', () => {
    const { listener, state, clock } = blocked()
    listener.offer(batchOf(MANY))
    clock.ms = 29_999
    listener.tick()
    expect(state.isDestroyed).toBe(false)
    clock.ms = 30_000
    listener.tick()
    expect(state.isDestroyed).toBe(true)
  })
})

test('missing attempts are reported as a gap', () => {
  const journal = journalOf([])
  journal.place = '4-0'
  const { listener, shown } = listen(journal)
  listener.offer(batchOf([], { isGap: true, place: '4-0' }))
  listener.tick()
  expect(shown()).toEqual([{ event: 'gap', data: { after: '4-0', resumedAt: '4-0' } }])
})

test('a quiet connection gets the place that the stream has reached every 15 seconds', () => {
  const clock = { ms: 0 }
  const { listener, places } = listen(journalOf([]), { filter: { callId: 'none' }, nowMs: () => clock.ms })
  listener.offer(batchOf([entryAt(8_000)]))
  clock.ms = 14_999
  listener.tick()
  expect(places()).toHaveLength(1)
  clock.ms = 15_000
  listener.tick()
  listener.tick()
  expect(places().slice(1)).toEqual([{ id: '8-0', event: 'place', data: { place: '8-0' } }])
})

test('the end of a stream is announced in a comment', () => {
  const { listener, written, state } = listen(journalOf([]))
  const ended: Listener = listener
  ended.end('the access token has expired')
  expect([written.at(-1), state.isClosed]).toEqual([': the access token has expired\n\n', true])
})
