import { type OptionalSettings, pauseWarnings, wantedSettings } from './optional-settings.ts'

const later = '2026-11-25T12:00:00.000Z'

test.each<[what: string, body: Partial<OptionalSettings>, change: object]>([
  ['an absent setting stays', {}, {}],
  ['null removes a setting', { externalId: null }, { externalId: undefined }],
  ['resuming also ends a pause until a time', { paused: false }, { paused: undefined, pausedUntil: undefined }],
  ['so does removing the pause', { paused: null }, { paused: undefined, pausedUntil: undefined }],
  [
    'a time that comes with it counts',
    { paused: false, pausedUntil: later },
    { paused: undefined, pausedUntil: later },
  ],
  ['pausing leaves the time', { paused: true }, { paused: true }],
])('%s', (_what, body, change) => {
  expect(wantedSettings(body)).toStrictEqual(change)
})

test.each<[what: string, asked: string | undefined, present: string | undefined, codes: readonly string[]]>([
  ['a past time', '2026-11-25T11:59:59Z', undefined, ['pause-over']],
  ['the present time', later, undefined, ['pause-over']],
  ['another past time', '2026-11-25T11:59:59Z', '2026-11-25T10:00:00Z', ['pause-over']],
  ['a later time', '2026-11-25T12:00:01Z', undefined, []],
  ['no time', undefined, '2026-11-25T10:00:00Z', []],
  ['the past time that was read', '2026-11-25T10:00:00Z', '2026-11-25T10:00:00Z', []],
])('of a pause until %s the answer warns if it is over', (_what, pausedUntil, present, codes) => {
  expect(pauseWarnings({ pausedUntil }, present, Date.parse(later)).map(({ code }) => code)).toEqual(codes)
})
