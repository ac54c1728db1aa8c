import { newEventId, newSubscriptionId } from '@switchhook/contracts'
import { isSettledBy, LEDGER_BYTES, type Ledger, parseLedger, parseRecord, viewJson } from './delivery-record.ts'

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

type Message = Parameters<typeof isSettledBy>[1]

const A = { token: 'a', postponed: 0 }

test.each<[string, Ledger, Omit<Message, 'attempt'> & { attempt?: number }, boolean]>([
  ['the last settled slot', { run: 1, slot: 2, state: 'waiting' }, { run: 1, slot: 2 }, true],
  ['a slot before it', { run: 1, slot: 2, state: 'waiting' }, { run: 1, slot: 0 }, true],
  ['the slot after it', { run: 1, slot: 2, state: 'waiting' }, { run: 1, slot: 3 }, false],
  ['a later slot of an acknowledged run', { run: 1, slot: 0, state: 'acknowledged' }, { run: 1, slot: 5 }, true],
  ['a later slot of a parked run', { run: 1, slot: 0, state: 'parked' }, { run: 1, slot: 5 }, true],
  ['a later slot of a withdrawn run', { run: 1, slot: 0, state: 'withdrawn' }, { run: 1, slot: 5 }, true],
  [
    'a later slot of an expired run',
    { run: 1, slot: 0, state: 'expired', attempt: 1 },
    { run: 1, slot: 5, attempt: 1 },
    true,
  ],
  ['the first slot of a run after it expired', { run: 1, slot: 3, state: 'expired' }, { run: 2, slot: 0 }, false],
  ['the first slot of a run that has begun', { run: 2, slot: -1, state: 'unsent' }, { run: 2, slot: 0 }, false],
  ['the first slot of a published run', { run: 2, slot: -1, state: 'pending' }, { run: 2, slot: 0 }, false],
  ['any slot of an earlier run', { run: 2, slot: -1, state: 'unsent' }, { run: 1, slot: 7 }, true],
  [
    'the first slot of a run that the ledger has lost',
    { run: 1, slot: 0, state: 'parked' },
    { run: 2, slot: 0 },
    false,
  ],
  ['the retry that it names', { run: 1, slot: 0, state: 'waiting', next: A }, { run: 1, slot: 1, token: 'a' }, false],
  ['a copy of that retry', { run: 1, slot: 0, state: 'waiting', next: A }, { run: 1, slot: 1, token: 'b' }, true],
  ['a retry of an earlier version', { run: 1, slot: 0, state: 'waiting', next: A }, { run: 1, slot: 1 }, false],
  [
    'a retry of a slot that it lacks',
    { run: 1, slot: 0, state: 'waiting', next: A },
    { run: 1, slot: 2, token: 'b' },
    false,
  ],
  [
    'a retry, if an earlier version wrote it',
    { run: 1, slot: 0, state: 'waiting' },
    { run: 1, slot: 1, token: 'b' },
    false,
  ],
  [
    'a slot that was postponed since',
    { run: 1, slot: 6, state: 'waiting', next: { token: 'a', postponed: 1 } },
    { run: 1, slot: 7, token: 'b' },
    true,
  ],
  [
    'the first message, postponed since',
    { run: 1, slot: -1, state: 'waiting', next: { token: 'a', postponed: 1 } },
    { run: 1, slot: 0 },
    true,
  ],
  [
    'the postponed message that it names',
    { run: 1, slot: 6, state: 'waiting', next: { token: 'a', postponed: 1 } },
    { run: 1, slot: 7, postponed: 1, token: 'a' },
    false,
  ],
  [
    'a copy of it',
    { run: 1, slot: 6, state: 'waiting', next: { token: 'a', postponed: 1 } },
    { run: 1, slot: 7, postponed: 1, token: 'b' },
    true,
  ],
  [
    'a postponement that it lacks',
    { run: 1, slot: 6, state: 'waiting', next: { token: 'a', postponed: 1 } },
    { run: 1, slot: 7, postponed: 2, token: 'b' },
    false,
  ],
  [
    'a withdrawal, for a copy with an attempt',
    { run: 1, slot: 0, state: 'withdrawn', attempt: 0 },
    { run: 1, slot: 1, attempt: 1 },
    false,
  ],
  [
    'a withdrawal by an earlier version, likewise',
    { run: 1, slot: 3, state: 'withdrawn' },
    { run: 1, slot: 1, attempt: 1 },
    false,
  ],
  [
    'an expiry without an attempt, for a copy with one',
    { run: 1, slot: 0, state: 'expired', attempt: 0 },
    { run: 1, slot: 1, attempt: 1 },
    false,
  ],
  [
    'a cool-down, for a copy with an attempt',
    { run: 1, slot: 3, state: 'waiting', next: A, attempt: 0 },
    { run: 1, slot: 1, token: 'b', attempt: 1 },
    false,
  ],
  [
    'a failed attempt, for a copy with an attempt',
    { run: 1, slot: 3, state: 'waiting', next: A, attempt: 1 },
    { run: 1, slot: 1, attempt: 2 },
    true,
  ],
  [
    'an acknowledgement, for a copy with an attempt',
    { run: 1, slot: 3, state: 'acknowledged', attempt: 1 },
    { run: 1, slot: 4, attempt: 1 },
    true,
  ],
  [
    'parked without an attempt, for a copy with one',
    { run: 1, slot: 3, state: 'parked', attempt: 0 },
    { run: 1, slot: 4, attempt: 1 },
    true,
  ],
])('%s', (_what, ledger, { attempt = 0, ...message }, settled) =>
  expect(isSettledBy(ledger, { ...message, attempt })).toBe(settled),
)

test.each<[string, Ledger | undefined]>([
  ['', undefined],
  ['1 0 waiting\n{"sub', { run: 1, slot: 0, state: 'waiting' }],
  ['12 -1 unsent\n{', { run: 12, slot: -1, state: 'unsent' }],
])('the ledger of %j, which an earlier version wrote', (stored, expected) =>
  expect(parseLedger(stored)).toEqual(expected),
)

test('the first bytes of a record are its whole ledger', () => {
  const next = { token: 'a1b2c3d4', postponed: 123_456 }
  const stored = `1234567890 12 waiting\n${viewJson({ ...VIEW, attempt: 1_234_567 }, next)}`
  const ledger = { run: 1_234_567_890, slot: 12, state: 'waiting', next, attempt: 1_234_567 }
  expect(parseLedger(stored.slice(0, LEDGER_BYTES))).toEqual(ledger)
  // Only a waiting delivery has a next message: a new run keeps the view of the one before.
  const { next: _, ...unsent } = { ...ledger, run: 2, slot: -1, state: 'unsent' }
  expect(parseLedger(stored.replace('1234567890 12 waiting', '2 -1 unsent'))).toEqual(unsent)
  expect(parseRecord(stored)?.view).toEqual({ ...VIEW, attempt: 1_234_567 })
})

test.each([0, 1])('settle-delivery.lua finds the attempts of a view with %d', (attempt) => {
  expect(viewJson({ ...VIEW, attempt }).includes('"attempt":0,')).toBe(attempt === 0)
})

test('the previous version reads the ledger line of a record with a token', () => {
  const stored = `1 3 waiting\n${viewJson(VIEW, A)}`
  expect(/^(\d+) (-?\d+) ([a-z]+)/.exec(stored.slice(0, 48))?.slice(1)).toEqual(['1', '3', 'waiting'])
  expect(/^((\d+) (-?\d+) ([a-z]+))\n([^\n]*)(.*)$/s.exec(stored)?.[1]).toBe('1 3 waiting')
})

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
