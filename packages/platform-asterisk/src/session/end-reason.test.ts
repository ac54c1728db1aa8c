import { EndReason } from '@switchhook/contracts'
import { howEnded } from './end-reason.ts'
import { type Channel, newChannel } from './session.ts'

const channel = (state: Channel['state'], origin: Channel['origin'] = 'placed'): Channel => ({
  ...newChannel({ id: 'c', line: 'l', origin, askedAtMs: 0 }),
  state,
})

test.each<[string, Channel, number, number | null, EndReason]>([
  ['hung up after the answer', channel('up'), 16, null, EndReason.normal],
  ['hung up, and Asterisk knows no cause', channel('up'), 0, null, EndReason.normal],
  ['the phone has vanished', channel('up'), 44, null, EndReason.deviceUnavailable],
  ['hung up, and the carrier names no cause', channel('up'), 31, null, EndReason.normal],
  ['the network broke an answered call', channel('up'), 38, 500, EndReason.failed],
  ['the caller gave up', channel('ringing', 'arrived'), 127, 487, EndReason.cancelled],
  ['the caller gave up, without a status', channel('asked', 'arrived'), 16, null, EndReason.cancelled],
  ['busy', channel('asked'), 17, 486, EndReason.busy],
  ['no such number', channel('asked'), 1, 404, EndReason.badAddress],
  ['incomplete number', channel('asked'), 28, 484, EndReason.badAddress],
  ['declined', channel('ringing'), 21, 603, EndReason.rejected],
  ['declined as spam', channel('ringing'), 127, 607, EndReason.rejected],
  ['declined as spam by an analysis of calls', channel('asked'), 127, 608, EndReason.rejected],
  ['answered elsewhere', channel('ringing'), 26, null, EndReason.answeredElsewhere],
  ['rang without an answer', channel('ringing'), 19, 480, EndReason.noAnswer],
  ['never rang', channel('asked'), 19, 480, EndReason.deviceUnavailable],
  ['the trunk refused', channel('asked'), 34, 503, EndReason.failed],
])('%s', (_name, ended, cause, sipCode, endReason) => {
  expect(howEnded(ended, cause, sipCode)).toEqual({ endReason, cause, sipCode })
})
