import { newEventId, newSubscriptionId } from '@switchhook/contracts'
import { isOlderThan, isSettledBy, type Ledger, parseLedger, parseRecord, viewJson } from './delivery-record.ts'

const VIEW = {
  subscriptionId: newSubscriptionId(),
  eventId: newEventId(),
  eventType: 'call.status',
  tenant: 'acme',
  // The quotes are escaped, so the script cannot take a URL for the attempt count.
  url: 'https://client.example/?q="attempt":0,',
  run: 1,
  slot: 3,
  attempt: 0,
  firstDueAt: '2026-11-20T12:00:00.000Z',
  state: 'waiting' as const,
  parkedReason: null,
  parkedAt: null,
  nextAttemptAt: null,
}

test.each<[string, Ledger, { run: number; slot: number }, boolean]>([
  ['the last settled slot', { run: 1, slot: 2, state: 'waiting' }, { run: 1, slot: 2 }, true],
  ['a slot before it', { run: 1, slot: 2, state: 'waiting' }, { run: 1, slot: 0 }, true],
  ['the slot after it', { run: 1, slot: 2, state: 'waiting' }, { run: 1, slot: 3 }, false],
  ['a later slot of an acknowledged run', { run: 1, slot: 0, state: 'acknowledged' }, { run: 1, slot: 5 }, true],
  ['a later slot of a parked run', { run: 1, slot: 0, state: 'parked' }, { run: 1, slot: 5 }, true],
  ['a later slot of a withdrawn run', { run: 1, slot: 0, state: 'withdrawn' }, { run: 1, slot: 5 }, true],
  ['the first slot of a run that has begun', { run: 2, slot: -1, state: 'unsent' }, { run: 2, slot: 0 }, false],
  ['the first slot of a published run', { run: 2, slot: -1, state: 'pending' }, { run: 2, slot: 0 }, false],
  ['any slot of an earlier run', { run: 2, slot: -1, state: 'unsent' }, { run: 1, slot: 7 }, true],
  [
    'the first slot of a run that the ledger has lost',
    { run: 1, slot: 0, state: 'parked' },
    { run: 2, slot: 0 },
    false,
  ],
])('%s', (_what, ledger, message, settled) => expect(isSettledBy(ledger, message)).toBe(settled))

test.each<[string, Ledger['state'], recordAttempts: number, messageAttempts: number, older: boolean]>([
  ['a withdrawal, for a copy with an attempt', 'withdrawn', 0, 1, true],
  ['a withdrawal, for a copy without an attempt', 'withdrawn', 0, 0, false],
  ['a cool-down, for a copy with an attempt', 'waiting', 0, 2, true],
  ['a failed attempt, for a copy with an attempt', 'waiting', 1, 2, false],
  ['an acknowledgement', 'acknowledged', 0, 1, false],
  ['a parked delivery without an attempt', 'parked', 0, 1, false],
])('whether a record is older than the message: %s', (_what, state, recordAttempts, messageAttempts, older) => {
  const json = viewJson({ ...VIEW, attempt: recordAttempts })
  const record = parseRecord(`1 3 ${state}\n${json}`)
  expect(record && isOlderThan(record, { run: 1, attempt: messageAttempts })).toBe(older)
  expect(record && isOlderThan(record, { run: 2, attempt: messageAttempts })).toBe(false)
  // settle-delivery.lua searches for this text.
  expect(json.includes('"attempt":0,')).toBe(recordAttempts === 0)
})

test.each<[string, Ledger | undefined]>([
  ['', undefined],
  ['1 0 waiting\n{"sub', { run: 1, slot: 0, state: 'waiting' }],
  ['12 -1 unsent\n{', { run: 12, slot: -1, state: 'unsent' }],
])('the ledger of %j', (stored, expected) => expect(parseLedger(stored)).toEqual(expected))

test('attempts are sorted by number', () => {
  const stored = ['1 1 acknowledged', '{"run":1}', '{"attempt":2}', '{"attempt":1}'].join('\n')
  expect(parseRecord(stored)?.attempts).toEqual([{ attempt: 1 }, { attempt: 2 }])
  expect(parseRecord('1 0 waiting\n{"run":1}')?.attempts).toEqual([])
})

test('attempts of an older worker, which did not store answers, are read together with newer ones', () => {
  const older =
    '{"run":1,"slot":0,"attempt":1,"at":"2026-11-20T17:06:01.173Z","durationMs":3,"outcome":"answered","status":503}'
  const newer = older.replace('"attempt":1', '"attempt":2').replace('}', ',"answer":"back at\\nnoon"}')
  const { attempts = [] } = parseRecord(['1 1 waiting', '{"run":1}', older, newer].join('\n')) ?? {}
  expect(attempts).toHaveLength(2)
  expect(attempts[0]).not.toHaveProperty('answer')
  expect(attempts[1]).toMatchObject({ attempt: 2, answer: 'back at\nnoon' })
})
