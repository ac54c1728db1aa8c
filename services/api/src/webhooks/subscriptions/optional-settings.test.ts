import { type OptionalSettings, wantedSettings } from './optional-settings.ts'

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
