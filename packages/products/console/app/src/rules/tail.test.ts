import type { KnownEvent, StreamMessage } from '@switchhook/client'
import { addRows, MAX_TAIL_ROWS, rowOf, type TailRow } from './tail.ts'

const attempt = (more: object): StreamMessage => ({
  type: 'attempt',
  attempt: {
    deliveryId: 'd',
    subscriptionId: 's',
    eventId: 'e',
    eventType: 'call.status',
    attempt: 2,
    at: '2026-11-20T12:00:00Z',
    outcome: 'answered',
    status: 503,
    durationMs: 12,
    state: 'waiting',
    ...more,
  },
})

test('an attempt reads as a sentence', () => {
  expect(rowOf(attempt({}))).toMatchObject({ tone: 'warn', text: 'attempt 2 answered 503 after 12 ms, waiting' })
})

test.each([
  [{ outcome: 'delivered', status: 200, state: 'acknowledged' }, 'good'],
  [{ state: 'parked' }, 'bad'],
])('the tone of an attempt %j', (more, tone) => {
  expect(rowOf(attempt(more)).tone).toBe(tone)
})

test('a call event says who, what and with whom', () => {
  const data = { agentUri: 'sip:alice@acme.example', state: 2, remoteParty: { uri: 'sip:x', number: '+15559000' } }
  const event = { eventId: 'e', eventType: 'call.status' as const, occurredAt: 'x', data }
  expect(rowOf({ type: 'event', place: '1-1', event: event as unknown as KnownEvent }).text).toBe(
    'alice alerting, +15559000',
  )
})

const gap = { type: 'gap', after: '1-1', resumedAt: '1-2', eventsLost: true } as const

test.each([
  [true, 'some messages were lost'],
  [false, 'some attempts are missing'],
])('a gap with lost events (%j) says what is missing', (eventsLost, text) => {
  expect(rowOf({ ...gap, eventsLost }).text).toBe(text)
})

test('the newest rows are first, and the oldest are dropped', () => {
  const rows = (from: number, count: number): TailRow[] =>
    Array.from({ length: count }, (_, n) => ({ ...rowOf(gap), key: String(from + n) }))
  const shown = addRows(addRows([], rows(0, MAX_TAIL_ROWS)), rows(MAX_TAIL_ROWS, 2))
  expect(shown).toHaveLength(MAX_TAIL_ROWS)
  expect([shown[0]?.key, shown.at(-1)?.key]).toEqual([String(MAX_TAIL_ROWS + 1), '2'])
})
