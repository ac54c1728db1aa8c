import type { KnownEvent, StreamMessage } from '@switchhook/client'
import type { Explanation } from '../api/model.ts'
import {
  addRows,
  eventPhrase,
  eventState,
  MAX_TAIL_ROWS,
  progressOf,
  recognise,
  rowOf,
  type TailRow,
} from './events.ts'

const alice = 'sip:alice@acme.example'

test.each([
  [{ agentUri: alice, state: 3, remoteParty: { uri: 'sip:x', number: '+15550147' } }, 'alice connected, +15550147'],
  [
    { agentUri: alice, state: 7, remoteParty: { uri: 'sip:bob@acme.example', number: null } },
    'alice ended, sip:bob@acme.example',
  ],
  [{ agentUri: alice, statusCode: 50 }, 'alice status 50'],
  [{ subscriptionId: 'x' }, ''],
])('an event says who, what and with whom: %j', (data, phrase) => {
  expect(eventPhrase(data)).toBe(phrase)
})

test('an event without a state says nothing about one', () => expect(eventState({ agentUri: alice })).toBe(''))

test.each<[Explanation['verdict'][], string, string]>([
  [[], 'quiet', 'for no endpoint'],
  [['not-subscribed', 'created-later', 'disabled'], 'quiet', 'for no endpoint'],
  [['delivered', 'not-subscribed'], 'good', 'delivered'],
  [['delivered', 'delivered'], 'good', 'all 2 delivered'],
  [['cooling-down'], 'warn', 'waiting'],
  [['parked'], 'bad', 'parked'],
  [['parked', 'waiting', 'delivered', 'pending'], 'bad', '1 parked, 2 waiting, 1 delivered'],
])('endpoints with the verdicts %j', (verdicts, tone, text) => {
  expect(progressOf(verdicts.map((verdict) => ({ verdict })))).toEqual({ tone, text })
})

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

const ID = '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'

test.each([
  ['', null],
  ['   ', null],
  [ID, { kind: 'id', value: ID, orCorrelationId: ID }],
  [ID.toUpperCase(), { kind: 'id', value: ID, orCorrelationId: ID.toUpperCase() }],
  [` order/${ID} `, { kind: 'id', value: ID, orCorrelationId: `order/${ID}` }],
  ['sip:alice@acme.example', { kind: 'agentUri', value: 'sip:alice@acme.example' }],
  ['alice@acme.example', { kind: 'agentUri', value: 'sip:alice@acme.example', orCorrelationId: 'alice@acme.example' }],
  ['tel:+15557001', { kind: 'agentUri', value: 'tel:+15557001' }],
  ['+1 (555) 900-0', { kind: 'number', value: '+15559000', orCorrelationId: '+1 (555) 900-0' }],
  ['0555/9000', { kind: 'number', value: '05559000' }],
  ['4711', { kind: 'number', value: '4711', orCorrelationId: '4711' }],
  ['123', { kind: 'correlationId', value: '123' }],
  ['0000', { kind: 'correlationId', value: '0000' }],
  ['+00 0-0', { kind: 'correlationId', value: '+00 0-0' }],
  ['1'.repeat(64), { kind: 'number', value: '1'.repeat(64) }],
  ['1'.repeat(65), { kind: 'correlationId', value: '1'.repeat(65) }],
  [`${'a'.repeat(250)}@b`, { kind: 'agentUri', value: `sip:${'a'.repeat(250)}@b` }],
  [`${'a'.repeat(251)}@b`, { kind: 'correlationId', value: `${'a'.repeat(251)}@b` }],
  ['crm-4711', { kind: 'correlationId', value: 'crm-4711' }],
])('"%s" is recognised', (text, sought) => {
  const recognised = recognise(text)
  if (sought === null) expect(recognised).toBeNull()
  else expect(recognised).toMatchObject(sought)
})

test('a line that is too long for a correlation id is not looked for as one', () => {
  const line = `${'x'.repeat(220)} ${ID}`
  expect(recognise(line)).toEqual({ kind: 'id', value: ID })
})
