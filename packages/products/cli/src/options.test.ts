import { countOf, durationMs, momentOf } from './options.ts'

test.each([
  ['90s', 90_000],
  ['10m', 600_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['0s', 0],
])('%s is %d ms', (text, ms) => expect(durationMs(text)).toBe(ms))

test.each(['', '10', 'm', '10 m', '-1m', '1w', '1.5h'])('"%s" is no duration', (text) => {
  expect(() => durationMs(text)).toThrow('write it like 90s, 10m, 2h or 1d')
})

const NOW_MS = Date.parse('2026-11-23T15:00:00.000Z')

test.each([
  ['10m', -1, '2026-11-23T14:50:00.000Z'],
  ['1h', 1, '2026-11-23T16:00:00.000Z'],
  ['2026-11-23T12:00:00Z', -1, '2026-11-23T12:00:00.000Z'],
  ['2026-11-23T12:00:00+02:00', 1, '2026-11-23T10:00:00.000Z'],
  ['2026-11-23 12:00Z', -1, '2026-11-23T12:00:00.000Z'],
  ['2026-11-23', -1, '2026-11-23T00:00:00.000Z'],
  ['2028-02-29', -1, '2028-02-29T00:00:00.000Z'],
] as const)('%s, %d is %s', (text, sign, expected) => expect(momentOf(text, sign, NOW_MS)).toBe(expected))

test.each([
  'yesterday',
  '99999999999d',
  '2',
  '10',
  '2026',
  'today 5',
  '1.2.2026',
  '11/20/2026',
  '2026-02-30',
  '2026-13-01 10:00',
  '2026-11-23T25:00Z',
])('"%s" is no time', (text) => {
  expect(() => momentOf(text, -1, NOW_MS)).toThrow(`"${text}" is no time`)
})

test.each(['0', '-1', '1.5', 'x', ''])('"%s" is no count', (text) => {
  expect(() => countOf(text, '--limit')).toThrow('--limit must be a whole number above 0')
})
