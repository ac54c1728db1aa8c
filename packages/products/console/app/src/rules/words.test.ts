import { agentName, counted, duration, outcomePhrase, relative, stopwatch } from './words.ts'

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_200, '1.2 s'],
  [9_000, '9 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_600_000, '1 h'],
  [7_500_000, '2 h 5 min'],
  [200_000_000, '2 d'],
])('a duration of %i ms reads %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test.each([
  ['2026-11-20T12:00:00Z', '12 s ago'],
  ['2026-11-20T12:05:12Z', 'in 5 min'],
  ['2026-11-20T12:00:12Z', 'now'],
])('%s is relative to now', (iso, text) => {
  expect(relative(iso, Date.parse('2026-11-20T12:00:12Z'))).toBe(text)
})

test.each([
  [0, '00:00'],
  [192_000, '03:12'],
  [3_661_000, '1:01:01'],
])('%i ms in a state reads %s', (ms, text) => {
  expect(stopwatch(ms)).toBe(text)
})

test('counts agree with their noun', () => {
  expect([counted(1, 'delivery', 'deliveries'), counted(0, 'delivery', 'deliveries')]).toEqual([
    '1 delivery',
    '0 deliveries',
  ])
})

test.each([
  ['answered', 503, 'answered 503'],
  ['timeout', null, 'did not answer in time'],
  ['invented-later', null, 'invented-later'],
])('the outcome %s reads as a phrase', (outcome, status, text) => {
  expect(outcomePhrase(outcome, status)).toBe(text)
})

test('an agent is shown by the name in the URI', () => {
  expect(agentName('sip:alice@acme.example')).toBe('alice')
})
