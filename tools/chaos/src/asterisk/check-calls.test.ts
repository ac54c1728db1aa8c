import { type ChannelRecord, checkCalls, type LegEvent, type Observed, parseChannelLog } from './check-calls.ts'

const callId = '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'
const agentUri = 'sip:agent-1@acme.example'
const T0 = 1_700_000_000_000

const event = (sequence: number, state: number, more: Partial<LegEvent> = {}): LegEvent => ({
  callId,
  agentUri,
  sequence,
  state,
  direction: 1,
  endReason: state === 7 ? 1 : 0,
  commandId: null,
  occurredAtMs: T0 + sequence * 1_000,
  receivedAtMs: T0 + sequence * 1_000,
  ...more,
})

const phone: ChannelRecord = {
  id: `${callId}-2`,
  name: 'PJSIP/agent-1-0001',
  startedAtMs: T0 + 900,
  answeredAtMs: T0 + 1_900,
  endedAtMs: T0 + 3_050,
}

/** An inbound call that the agent answered, and that ended three seconds after it began. */
const sound: Observed = {
  events: [event(1, 2), event(2, 3), event(3, 7)],
  dialled: [],
  channels: [phone],
  disturbances: [],
  killsAtMs: [],
  endpoints: new Map([[agentUri, 'agent-1']]),
}

test('a call that Asterisk and the events describe alike has no problem', () => {
  expect(checkCalls(sound)).toEqual([])
  expect(checkCalls({ ...sound, events: [...sound.events, event(2, 3)] })).toEqual([])
})

test.each<[string, Partial<Observed>, string]>([
  ['an end that is not reported', { events: sound.events.slice(0, 2) }, 'ended 0 times'],
  ['two ends', { events: [...sound.events, event(4, 7)] }, 'ended 2 times'],
  ['an event after the end', { events: [...sound.events, event(4, 3)] }, 'follows its end'],
  ['a gap', { events: [event(1, 2), event(3, 7)] }, 'a gap'],
  ['a dial without events', { dialled: [{ callId: 'other', agentUri }] }, 'no event reports it'],
  ['a call without events', { events: [] }, 'no event reports it'],
  ['a channel that stays', { channels: [{ ...phone, endedAtMs: null }] }, 'did not end in Asterisk'],
  ['an answer that is not reported', { events: [event(1, 2), event(2, 7, { occurredAtMs: T0 + 3_000 })] }, 'answered'],
  ['a reported answer that was none', { channels: [{ ...phone, answeredAtMs: null }] }, 'answered'],
  ['a loss without a fault', { events: [event(1, 2), event(2, 3), event(3, 7, { endReason: 12 })] }, 'reason 12'],
  ['an end that is reported late', { channels: [{ ...phone, endedAtMs: T0 + 9_000 }] }, 'ms from the end'],
])('%s is found', (_name, change, said) => {
  expect(checkCalls({ ...sound, ...change }).join()).toContain(said)
})

test('a fault excuses a loss, and a kill an end that is not logged, but neither excuses a missing end', () => {
  const disturbances = [{ kind: 'asterisk', fromMs: T0, toMs: T0 + 5_000 }]
  const lost = { events: [event(1, 2), event(2, 3), event(3, 7, { endReason: 12 })], disturbances }
  const killed = { channels: [{ ...phone, endedAtMs: null }], killsAtMs: [T0 + 2_500] }
  expect(checkCalls({ ...sound, ...lost, ...killed })).toEqual([])
  expect(checkCalls({ ...sound, disturbances, events: sound.events.slice(0, 2) }).join()).toContain('ended 0 times')
})

test("Asterisk's log is read by channel", () => {
  const log = [
    'CHAN_START,1700000000.9,x-2,PJSIP/agent-1-0001',
    'ANSWER,1700000001.900000,x-2,PJSIP/agent-1-0001',
    'CHAN_START,1700000002,y-2,PJSIP/pstn-0002',
    'CHAN_END,1700000003.05,x-2,PJSIP/agent-1-0001',
    '',
  ]
  expect(parseChannelLog(log.join('\n'))).toEqual([
    { ...phone, id: 'x-2' },
    { id: 'y-2', name: 'PJSIP/pstn-0002', startedAtMs: T0 + 2_000, answeredAtMs: null, endedAtMs: null },
  ])
})
