import fc from 'fast-check'
import { parseEvent } from '../../events/event.ts'
import { filterRefusal, hidesEndOfCalls } from './explain-filter.ts'
import {
  type EventData,
  type FilterCondition,
  type FilterFields,
  leavesGaps,
  passesFilter,
  type SubscriptionFilter,
} from './filter.ts'
import { filterFaults } from './validate-filter.ts'

const TYPE = 'call.status'

/** The words of the documentation, one after the other, without any preparation. */
function meets(value: unknown, condition: FilterCondition): boolean {
  const isNothing = value === undefined || value === null
  if (condition === null) return isNothing
  if (typeof condition !== 'object') return value === condition
  if ('exists' in condition) return condition.exists !== isNothing
  if (isNothing || typeof value === 'object') return false
  if ('prefix' in condition) return typeof value === 'string' && value.indexOf(condition.prefix) === 0
  if ('suffix' in condition)
    return typeof value === 'string' && value.slice(-condition.suffix.length) === condition.suffix
  if ('anything-but' in condition) {
    for (const unwanted of [condition['anything-but']].flat()) if (value === unwanted) return false
    return true
  }
  if (typeof value !== 'number') return false
  const [first, limit, second, secondLimit] = condition.numeric
  const holds = (operator: unknown, than: unknown): boolean => {
    if (operator === '<') return value < Number(than)
    if (operator === '<=') return value <= Number(than)
    if (operator === '>') return value > Number(than)
    return operator === '>=' ? value >= Number(than) : value === than
  }
  return holds(first, limit) && (second === undefined || holds(second, secondLimit))
}

const text = fc.constantFrom('', 'a', 'ab', 'abc', 'b', 'ba', 'sip:a', 'é')
const number = fc.constantFrom(-1, 0, 1, 1.5, 2, 7)
const scalar = fc.oneof(text, number, fc.boolean())
const operator = fc.constantFrom('=', '<', '<=', '>', '>=')
const comparison = fc.tuple(operator, number)
const condition: fc.Arbitrary<FilterCondition> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.constant(null),
  fc.record({ prefix: text.filter((each) => each !== '') }),
  fc.record({ suffix: text.filter((each) => each !== '') }),
  fc.record({ 'anything-but': fc.oneof(scalar, fc.array(scalar, { minLength: 1, maxLength: 3 })) }),
  fc.record({ exists: fc.boolean() }),
  fc.record({
    numeric: fc.oneof(
      comparison,
      fc.tuple(comparison, comparison).map((two) => two.flat()),
    ),
  }),
)
const KEYS = ['one', 'two', 'three'] as const
const fields: fc.Arbitrary<FilterFields> = fc.dictionary(
  fc.constantFrom(...KEYS),
  fc.array(condition, { minLength: 1, maxLength: 4 }),
  { minKeys: 1, maxKeys: 3 },
)
const data: fc.Arbitrary<EventData> = fc.dictionary(
  fc.constantFrom(...KEYS),
  fc.oneof({ weight: 5, arbitrary: scalar }, fc.constant(null), fc.constant({ a: 1 }), fc.constant([1])),
)

test('an event passes if each field meets one of its conditions, and a refusal names one that does not', () => {
  fc.assert(
    fc.property(fields, data, (wanted, event) => {
      const failing = Object.keys(wanted).filter((key) => !wanted[key]?.some((each) => meets(event[key], each)))
      const filter: SubscriptionFilter = { [TYPE]: wanted }
      expect(passesFilter(filter, TYPE, event)).toBe(failing.length === 0)
      const refusal = filterRefusal(filter, TYPE, event)
      expect(refusal === undefined ? [] : [refusal.split(' was ')[0]]).toEqual(failing.slice(0, 1))
    }),
    { numRuns: 2_000 },
  )
})

test('a type without an entry passes whole, and so does everything without a filter', () => {
  const filter: SubscriptionFilter = { 'agent.status': { statusCode: [2] } }
  expect([passesFilter(filter, TYPE, {}), passesFilter(undefined, TYPE, {})]).toEqual([true, true])
  expect([filterRefusal(filter, TYPE, {}), filterRefusal(undefined, TYPE, {})]).toEqual([undefined, undefined])
})

test.each(['2', '2.0', '20e-1'])('a number that a platform writes as %s is the number 2', (written) => {
  const envelope = `"eventId":"7d0f4c1a-3b52-4f6e-8a90-6d1c2b3a4f50","eventType":"${TYPE}","occurredAt":"2026-11-20T17:06:01Z","tenant":"acme"`
  const { data: parsed } = parseEvent(Buffer.from(`{${envelope},"data":{"state":${written}}}`))
  const filters: FilterFields[] = [{ state: [2] }, { state: [{ numeric: ['>', 1, '<', 3] }] }]
  expect(filters.map((wanted) => passesFilter({ [TYPE]: wanted }, TYPE, parsed))).toEqual([true, true])
  expect(filterRefusal({ [TYPE]: { state: [3] } }, TYPE, parsed)).toBe('state was 2; the filter wants 3')
})

test.each<[FilterFields, EventData, string]>([
  [{ state: [3, 7] }, { state: 2 }, 'state was 2; the filter wants 3 or 7'],
  [
    { agentUri: [{ prefix: 'sip:sales-' }] },
    { agentUri: 'sip:ann' },
    'agentUri was "sip:ann"; the filter wants "sip:sales-" at the beginning',
  ],
  [{ cli: [{ suffix: '99' }] }, { cli: null }, 'cli was null; the filter wants "99" at the end'],
  [{ state: [{ 'anything-but': [1, 2] }] }, { state: 1 }, 'state was 1; the filter wants anything but 1 or 2'],
  [{ cli: [{ exists: true }] }, {}, 'cli was absent; the filter wants any value'],
  [{ transfer: [null] }, { transfer: { blind: true } }, 'transfer was an object; the filter wants null'],
  [
    { durationSeconds: [{ numeric: ['>', 0, '<=', 60] }] },
    { durationSeconds: 61 },
    'durationSeconds was 61; the filter wants > 0 and <= 60',
  ],
  [{ cause: [1, 2, 3, 4, 5, 6, 7] }, { cause: 8 }, 'cause was 8; the filter wants 1 or 2 or 3 or 4 or 5 or 2 more'],
  [{ device: ['x'] }, { device: 'y'.repeat(300) }, `device was "${'y'.repeat(62)}…; the filter wants "x"`],
])('%j refuses %j: %s', (wanted, event, refusal) => {
  expect(filterRefusal({ [TYPE]: wanted }, TYPE, event)).toBe(refusal)
})

test.each<[SubscriptionFilter, string, boolean]>([
  [{ [TYPE]: { agentUri: ['sip:a'], direction: [1] } }, TYPE, false],
  [{ [TYPE]: { state: [7] } }, TYPE, true],
  [{ [TYPE]: { state: [7] } }, 'agent.status', false],
  [{ 'agent.status': { agentUri: ['sip:a'] } }, 'agent.status', false],
  [{ 'agent.status': { statusCode: [2] } }, 'agent.status', true],
  [{ 'webhook.parked.limit': { limit: [2] } }, 'webhook.parked.limit', false],
])('%j leaves gaps in %s: %s', (filter, eventType, expected) => {
  expect(leavesGaps(filter, eventType)).toBe(expected)
})

test.each<[SubscriptionFilter, boolean]>([
  [{ [TYPE]: { state: [3] } }, true],
  [{ [TYPE]: { state: [{ 'anything-but': 7 }] } }, true],
  [{ [TYPE]: { state: [3, 7] } }, false],
  [{ [TYPE]: { state: [{ numeric: ['>', 2] }] } }, false],
  [{ [TYPE]: { endedAt: [null] } }, true],
  [{ [TYPE]: { durationSeconds: [{ exists: false }] } }, true],
  [{ [TYPE]: { durationSeconds: [null, { numeric: ['>', 60] }] } }, false],
  [{ [TYPE]: { endReason: [0] } }, true],
  [{ [TYPE]: { endReason: [{ 'anything-but': 0 }] } }, false],
  [{ [TYPE]: { agentUri: ['sip:a'] } }, false],
  [{ 'agent.status': { statusCode: [2] } }, false],
])('%j hides the end of calls: %s', (filter, expected) => {
  expect(hidesEndOfCalls(filter)).toBe(expected)
})

describe('validation', () => {
  test.each<[string, unknown]>([
    ['the example of the documentation', { [TYPE]: { state: [3, 7], agentUri: [{ prefix: 'sip:sales-' }] } }],
    ['every word', { [TYPE]: { cause: [{ numeric: ['=', 1.5] }, { 'anything-but': [1] }, { exists: false }, null] } }],
    ['an object that exists', { [TYPE]: { transfer: [{ exists: true }] } }],
    ['a status code of the installation', { 'agent.status': { statusCode: [4711], loggedOn: [true] } }],
  ])('takes %s', (_name, filter) => {
    expect(filterFaults(filter)).toEqual([])
  })

  const many = (count: number) => Array.from({ length: count }, (_, at) => at)
  test.each<[string, unknown, string, RegExp]>([
    ['no object', 'state = 3', '', /must be an object/],
    ['a list', [], '', /must be an object/],
    ['no type', {}, '', /must name an event type/],
    ['an unknown type', { 'call.state': {} }, '/call.state', /not an event type; did you mean "call.status"/],
    ['no field', { [TYPE]: {} }, '/call.status', /must name a field/],
    ['fields that are no object', { [TYPE]: 3 }, '/call.status', /must be an object of fields/],
    ['a misspelt field', { [TYPE]: { stat: [3] } }, '/call.status/stat', /did you mean "state"/],
    ['a name of JavaScript', { [TYPE]: { constructor: [3] } }, '/call.status/constructor', /not a field/],
    ['a field with a slash', { [TYPE]: { 'a/b': [3] } }, '/call.status/a~1b', /not a field/],
    ['no list', { [TYPE]: { state: 3 } }, '/call.status/state', /must be a list/],
    ['an empty list', { [TYPE]: { state: [] } }, '/call.status/state', /must be a list/],
    ['a number as text', { [TYPE]: { state: ['3'] } }, '/call.status/state/0', /must be a number/],
    ['an unknown state', { [TYPE]: { state: [3, 99] } }, '/call.status/state/1', /must be one of .*3 connected/],
    ['a boolean as text', { [TYPE]: { held: ['true'] } }, '/call.status/held/0', /must be true or false/],
    ['a value of an object', { [TYPE]: { transfer: ['x'] } }, '/call.status/transfer/0', /null or exists/],
    ['an unknown word', { [TYPE]: { state: [{ prefx: 'a' }] } }, '/call.status/state/0', /did you mean "prefix"/],
    ['two words', { [TYPE]: { cli: [{ prefix: 'a', suffix: 'b' }] } }, '/call.status/cli/0', /one word/],
    ['no word', { [TYPE]: { cli: [{}] } }, '/call.status/cli/0', /one of the words/],
    ['a prefix of a number', { [TYPE]: { state: [{ prefix: '3' }] } }, '/call.status/state/0/prefix', /is a string/],
    ['an empty suffix', { [TYPE]: { cli: [{ suffix: '' }] } }, '/call.status/cli/0/suffix', /not empty/],
    ['anything-but nothing', { [TYPE]: { cli: [{ 'anything-but': [] }] } }, '/call.status/cli/0/anything-but', /empty/],
    ['exists as text', { [TYPE]: { cli: [{ exists: 'no' }] } }, '/call.status/cli/0/exists', /true or false/],
    ['numeric of a text', { [TYPE]: { cli: [{ numeric: ['>', 1] }] } }, '/call.status/cli/0/numeric', /is a number/],
    ['half a comparison', { [TYPE]: { cause: [{ numeric: ['>'] }] } }, '/call.status/cause/0/numeric', /comparisons/],
    ['an unknown operator', { [TYPE]: { cause: [{ numeric: ['!', 1] }] } }, '/call.status/cause/0/numeric', /<=/],
    ['a long text', { [TYPE]: { cli: ['x'.repeat(257)] } }, '/call.status/cli/0', /at most 256/],
    ['many long texts', { [TYPE]: { cli: many(20).map((at) => `${at}${'ä'.repeat(120)}`) } }, '', /4096 bytes/],
    ['101 values', { [TYPE]: { cause: many(101) } }, '/call.status', /at most 100/],
    ['17 fields', { [TYPE]: Object.fromEntries(many(17).map((at) => [at, [1]])) }, '/call.status', /at most 16 fields/],
  ])('refuses %s', (_name, filter, pointer, detail) => {
    expect(filterFaults(filter)).toEqual([{ pointer, detail: expect.stringMatching(detail) }])
  })
})
