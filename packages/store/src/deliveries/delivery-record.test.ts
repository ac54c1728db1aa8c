import { type DeliveryState, newEventId, newSubscriptionId } from '@switchhook/contracts'
import {
  isSettledBy,
  LEDGER_BYTES,
  type Ledger,
  ledgerLine,
  lineBefore,
  parseLedger,
  parseRecord,
  recordText,
  viewJson,
} from './delivery-record.ts'

const VIEW = {
  subscriptionId: newSubscriptionId(),
  eventId: newEventId(),
  eventType: 'call.status',
  tenant: 'acme',
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

/** Slot 2 of run 2, after two attempts. */
const MESSAGE: Message = { run: 2, slot: 2, attempt: 2, token: 'a' }
const NAMED: Ledger = { run: 2, settledSlot: 1, state: 'waiting', attempt: 2, next: { token: 'a', postponed: 0 } }

const LEDGER_STATES = ['pending', 'unsent', 'waiting', 'acknowledged', 'parked', 'withdrawn', 'expired'] as const
const RESULTS = ['look', 'waiting', 'held', 'acknowledged', 'parked', 'withdrawn', 'expired'] as const

/** Whether a ledger settles `MESSAGE`, for each of `RESULTS`. `S`: settled. */
const ALWAYS = 'SSSSSSS'
const UNLESS = 'SSS.SSS' // acknowledged
const NEVER = '.......'
/** Acknowledged, parked, withdrawn, expired. */
const ENDED = [ALWAYS, UNLESS, UNLESS, UNLESS]

/** The last column has one entry for each of `LEDGER_STATES`. */
test.each<[string, Partial<Ledger>, readonly string[]]>([
  ['names it', {}, [NEVER, NEVER, NEVER, ...ENDED]],
  ['names another duplicate of it', { next: { token: 'b', postponed: 0 } }, [UNLESS, UNLESS, UNLESS, ...ENDED]],
  ['has its slot', { settledSlot: 2 }, [UNLESS, UNLESS, UNLESS, ...ENDED]],
  ['has more attempts', { settledSlot: 0, attempt: 3 }, [UNLESS, UNLESS, UNLESS, ...ENDED]],
  [
    'has fewer attempts, whatever its slot',
    { settledSlot: 5, attempt: 1 },
    [NEVER, NEVER, NEVER, ALWAYS, UNLESS, NEVER, NEVER],
  ],
  ['is of a later run', { run: 3, settledSlot: -1 }, LEDGER_STATES.map(() => ALWAYS)],
  ['is of an earlier run', { run: 1, settledSlot: 7 }, LEDGER_STATES.map(() => NEVER)],
])('a ledger that %s', (_what, over, expected) => {
  const settled = (ledger: Ledger, state?: DeliveryState) =>
    isSettledBy(ledger, MESSAGE, state && { state, attempt: MESSAGE.attempt }) ? 'S' : '.'
  const table = LEDGER_STATES.map((state) => {
    const ledger: Ledger = { ...NAMED, ...over, state }
    return RESULTS.map((result) => settled(ledger, result === 'look' ? undefined : result)).join('')
  })
  expect(table).toEqual(expected)
})

test.each<[string, Partial<Ledger>, { readonly [Field in keyof Message]?: Message[Field] | undefined }, boolean]>([
  ['a slot before the last settled one', { settledSlot: 4 }, {}, true],
  ['a slot after the next one, because the ledger lags', { settledSlot: 0 }, {}, false],
  [
    'the first slot of a run that has begun',
    { settledSlot: -1, next: undefined },
    { slot: 0, token: undefined },
    false,
  ],
  ['a slot that was postponed since', { next: { token: 'a', postponed: 1 } }, { token: 'b' }, true],
  ['the postponed message that it names', { next: { token: 'a', postponed: 1 } }, { postponed: 1 }, false],
  ['a duplicate of it', { next: { token: 'a', postponed: 1 } }, { postponed: 1, token: 'b' }, true],
  ['a postponement that it lacks', { next: { token: 'a', postponed: 1 } }, { postponed: 2, token: 'b' }, false],
  [
    'the first message, postponed since',
    { settledSlot: -1, next: { token: 'a', postponed: 1 } },
    { slot: 0, token: undefined },
    true,
  ],
])('a waiting ledger and %s', (_what, ledger, message, settled) =>
  expect(isSettledBy({ ...NAMED, ...ledger }, { ...MESSAGE, ...message } as Message)).toBe(settled),
)

test('a ledger line is parsed as it was written, and fits into the first bytes of a record', () => {
  const next = { token: '0123456789abcdef', postponed: 1_234_567 }
  for (const state of LEDGER_STATES) {
    const ledger: Ledger = { run: 1_234_567_890, settledSlot: -12, state, attempt: 1_234_567_890, next }
    const stored = recordText(ledger, VIEW)
    expect(parseLedger(stored.slice(0, LEDGER_BYTES))).toEqual(ledger)
    expect(parseLedger(ledgerLine(ledger))).toEqual(ledger)
    expect(parseLedger(ledgerLine({ ...ledger, next: undefined }))).toEqual({ ...ledger, next: undefined })
  }
})

test.each(['', 'gibberish', '1 0 waiting', '1 0 waiting 2 a', '1 0 waiting 2 a 0 more'])('no ledger: %j', (text) =>
  expect(parseLedger(text)).toBeUndefined(),
)

test.each<[string, Partial<Parameters<typeof lineBefore>[0]>, string]>([
  ['a retry', MESSAGE, '2 1 waiting 2 a 0'],
  ['a postponed message', { ...MESSAGE, postponed: 3 }, '2 1 waiting 2 a 3'],
  ['the first message of a later run', { run: 2, attempt: 8 }, '2 -1 pending 8'],
  ['a delivery that was announced', { isRequested: true }, '1 -1 pending 0'],
  ['a first message', {}, ''],
])('%s is named by its line', (_what, over, line) => {
  const message = { deliveryId: VIEW.eventId as never, run: 1, slot: 0, attempt: 0, ...over }
  expect(lineBefore(message)).toBe(line)
  const ledger = parseLedger(line)
  if (ledger !== undefined) expect(isSettledBy(ledger, message)).toBe(false)
})

test('a view is read as it was written, with the attempts of the ledger', () => {
  const stored = recordText({ run: 2, settledSlot: -1, state: 'unsent', attempt: 7 }, VIEW)
  expect(parseRecord(stored)).toEqual({
    ledger: { run: 2, settledSlot: -1, state: 'unsent', attempt: 7 },
    view: { ...VIEW, attempt: 7 },
    attempts: [],
  })
  expect(viewJson({ ...VIEW, attempt: 7 })).toBe(viewJson(VIEW))
})

test('attempts are sorted by number', () => {
  const stored = ['1 1 acknowledged 2', '{"run":1}', '{"attempt":2}', '{"attempt":1}'].join('\n')
  expect(parseRecord(stored)?.attempts).toEqual([{ attempt: 1 }, { attempt: 2 }])
})
