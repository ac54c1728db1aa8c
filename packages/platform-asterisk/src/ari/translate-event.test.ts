import { newCallId } from '@switchhook/contracts'
import type { AriChannel, AriEvent } from './ari-model.ts'
import { parseEvent } from './ari-model.ts'
import { arrivedCallId, markOf, readMark } from './channel-mark.ts'
import { type PbxEvent, translateEvent } from './translate-event.ts'

const AT = '2026-01-01T00:00:00.000+0000'

const channel = (state: string, channelvars: Record<string, string> = {}): AriChannel => ({
  id: 'c-1',
  name: 'PJSIP/alice-00000001',
  state,
  creationtime: '2026-01-01T00:00:00.000+0000',
  caller: { name: '', number: '+15559000' },
  dialplan: { app_name: 'Stasis', app_data: 'switchhook,agent' },
  channelvars,
})
const up = channel('Up')
const ringing = channel('Ringing')
const input = (of: AriChannel, what: Extract<PbxEvent, { kind: 'channel' }>['input']): PbxEvent => ({
  kind: 'channel',
  channel: of,
  input: what,
})

test.each<[string, AriEvent, PbxEvent | undefined]>([
  ['rings', { type: 'ChannelStateChange', channel: ringing }, input(ringing, { kind: 'ringing', channelId: 'c-1' })],
  ['is called', { type: 'Dial', dialstatus: '', peer: ringing }, undefined],
  [
    'makes progress',
    { type: 'Dial', dialstatus: 'PROGRESS', peer: ringing },
    input(ringing, { kind: 'ringing', channelId: 'c-1' }),
  ],
  ['is up', { type: 'ChannelStateChange', channel: up }, input(up, { kind: 'up', channelId: 'c-1' })],
  [
    'is in our application',
    { type: 'StasisStart', args: ['agent'], channel: up },
    input(up, { kind: 'ready', channelId: 'c-1', isUp: true }),
  ],
  ['is held', { type: 'ChannelHold', channel: up }, input(up, { kind: 'phone-holds', channelId: 'c-1' })],
  [
    'ended with a SIP status',
    { type: 'ChannelDestroyed', cause: 17, tech_cause: 486, channel: ringing },
    input(ringing, { kind: 'gone', channelId: 'c-1', cause: 17, sipCode: 486 }),
  ],
  [
    'ended without one',
    { type: 'ChannelDestroyed', cause: 16, tech_cause: 0, channel: up },
    input(up, { kind: 'gone', channelId: 'c-1', cause: 16, sipCode: null }),
  ],
  [
    'was hung up by its party',
    { type: 'ChannelHangupRequest', cause: 16, channel: up },
    input(up, { kind: 'end-asked', channelId: 'c-1', by: 'party' }),
  ],
  [
    'ends because Asterisk shuts down',
    { type: 'ChannelHangupRequest', soft: true, cause: 4, channel: up },
    input(up, { kind: 'end-asked', channelId: 'c-1', by: 'shutdown' }),
  ],
  ['ends because we asked for it', { type: 'ChannelHangupRequest', soft: true, cause: 32, channel: up }, undefined],
  [
    'arrives from the trunk',
    { type: 'StasisStart', asterisk_id: 'a', args: ['inbound', '8101'], channel: ringing },
    { kind: 'arrives', channel: ringing, called: '8101', asteriskId: 'a' },
  ],
  [
    'is dialled at a phone',
    { type: 'StasisStart', asterisk_id: 'a', args: ['agent-dial', 'alice', '15550100'], channel: ringing },
    { kind: 'phone-dials', channel: ringing, endpoint: 'alice', called: '15550100', asteriskId: 'a' },
  ],
  [
    'is transferred at the phone',
    {
      type: 'ChannelTransfer',
      timestamp: AT,
      refer_to: { requested_destination: { destination: '8102' } },
      referred_by: { source_channel: up },
    },
    { kind: 'phone-transfers', at: AT, channel: up, target: '8102' },
  ],
  [
    'has been told that its transfer has failed',
    {
      type: 'ChannelTransfer',
      timestamp: AT,
      refer_to: { requested_destination: { destination: '8102' } },
      referred_by: { source_channel: up },
      state: 'channel_declined',
    },
    undefined,
  ],
  [
    'is transferred at the phone to its other call',
    {
      type: 'ChannelTransfer',
      timestamp: AT,
      refer_to: { destination_channel: ringing },
      referred_by: { source_channel: up },
    },
    { kind: 'phone-joins', at: AT, channel: up, other: ringing },
  ],
  [
    'is transferred at the phone to a call that Asterisk does not know',
    {
      type: 'ChannelTransfer',
      timestamp: AT,
      refer_to: { requested_destination: { protocol_id: 'call@elsewhere' } } as object,
      referred_by: { source_channel: up },
    },
    { kind: 'phone-transfers', at: AT, channel: up, target: null },
  ],
  [
    'opens the line of an agent',
    { type: 'StasisStart', asterisk_id: 'a', args: ['agent-line', 'alice'], channel: ringing },
    { kind: 'line-opens', channel: ringing, endpoint: 'alice' },
  ],
  ['receives a digit', { type: 'ChannelDtmfReceived', channel: up }, undefined],
])('a channel %s', (_name, event, expected) => expect(translateEvent(event)).toEqual(expected))

test('a registration changes the state of the device', () => {
  const endpoint = { resource: 'alice', state: 'offline' }
  expect(translateEvent({ type: 'ContactStatusChange', endpoint })).toEqual({
    kind: 'device',
    endpoint: 'alice',
    online: false,
  })
  expect(translateEvent({ type: 'ContactStatusChange', endpoint: { ...endpoint, state: 'unknown' } })).toBeUndefined()
})

test('text that is not an event is ignored', () => {
  for (const text of ['', '{', '1', 'null', '{"type":1}']) expect(parseEvent(text)).toBeUndefined()
})

test('half of a surrogate pair in a text of Asterisk is replaced', () => {
  const text = String.raw`{"type":"Dial","dialstatus":"a\ud83d","caller":{"name":"\ud83d\ude00"}}`
  expect(parseEvent(text)).toEqual({ type: 'Dial', dialstatus: 'a\ufffd', caller: { name: '😀' } })
})

describe('the mark of a channel', () => {
  const sessionId = newCallId()

  test.each([null, 'acme', 'a:b c'])('contains session and tenant: %j', (tenant) => {
    const marked = channel('Up', { SH_CALL: markOf('switchhook', { tenant, sessionId }) })
    expect(readMark('switchhook', marked)).toEqual({ tenant, sessionId })
  })

  test('of another installation is not ours', () => {
    const marked = channel('Up', { SH_CALL: markOf('staging', { tenant: null, sessionId }) })
    expect(readMark('switchhook', marked)).toBeUndefined()
    expect(readMark('switchhook', up)).toBeUndefined()
  })
})

test('a call that began in Asterisk has the same id wherever it is derived', () => {
  expect(arrivedCallId('a', up)).toBe(arrivedCallId('a', ringing))
  expect(arrivedCallId('a', up)).not.toBe(arrivedCallId('b', up))
})
