import { MAX_PAUSE_MS, pauseMsOf } from './classify.ts'

const NOW_MS = Date.parse('2026-11-23T12:00:00Z')

test.each([
  ['seconds', 429, { 'retry-after': '30' }, 30_000],
  ['a date', 503, { 'retry-after': 'Mon, 23 Nov 2026 12:01:00 GMT' }, 60_000],
  [
    'a date of an endpoint whose clock is an hour ahead',
    503,
    { 'retry-after': 'Mon, 23 Nov 2026 13:01:00 GMT', date: 'Mon, 23 Nov 2026 13:00:00 GMT' },
    60_000,
  ],
  ['two times, of which the first counts', 503, { 'retry-after': ['30', '60'], date: ['x', 'y'] }, 30_000],
  ['seconds with blanks around them', 429, { 'retry-after': ' 60 \t' }, 60_000],
  ['a date with blanks around it', 503, { 'retry-after': '\tMon, 23 Nov 2026 12:01:00 GMT ', date: ' ' }, 60_000],
  ['a date of RFC 850', 503, { 'retry-after': 'Monday, 23-Nov-26 12:01:00 GMT' }, 60_000],
  ['a date of asctime', 503, { 'retry-after': 'Mon Nov 23 12:01:00 2026' }, 60_000],
  [
    'a date of asctime with one digit, after a date of RFC 850',
    429,
    { 'retry-after': 'Fri Jan  1 00:01:00 2027', date: 'Friday, 01-Jan-27 00:00:00 GMT ' },
    60_000,
  ],
  ['a date of asctime in another zone', 503, { 'retry-after': 'Mon Nov 23 12:01:00 PST 2026' }, undefined],
  ['more than a quarter of an hour', 429, { 'retry-after': '86400' }, MAX_PAUSE_MS],
  ['a number beyond all bounds', 429, { 'retry-after': '9'.repeat(400) }, MAX_PAUSE_MS],
  ['no time', 429, { 'retry-after': '0' }, undefined],
  ['a date that has passed', 503, { 'retry-after': 'Mon, 23 Nov 2026 11:59:00 GMT' }, undefined],
  ['nothing', 429, {}, undefined],
  ['an empty text', 429, { 'retry-after': '' }, undefined],
  ['a negative number', 429, { 'retry-after': '-5' }, undefined],
  ['a fraction, which Date.parse takes for a date', 429, { 'retry-after': '1.5' }, undefined],
  ['words', 503, { 'retry-after': 'tomorrow, GMT' }, undefined],
  ['seconds with another status', 500, { 'retry-after': '30' }, undefined],
  ['seconds with a redirect', 301, { 'retry-after': '30' }, undefined],
])('an answer that asks for %s', (_what, status, headers, pauseMs) => {
  expect(pauseMsOf(status, headers, NOW_MS)).toBe(pauseMs)
})
