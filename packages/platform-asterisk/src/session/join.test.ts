import { CallState, newCallId, newCommandId } from '@switchhook/contracts'
import type { Party } from '@switchhook/platform'
import { beginArrival, beginDial } from './begin.ts'
import type { Input } from './input.ts'
import { join, joinedBefore } from './join.ts'
import type { PbxSession } from './session.ts'
import { type Stepped, step } from './step.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const agent = (agentUri: string): Party => ({ kind: 'agent', agentUri, device: null })
const AT_MS = Date.UTC(2026, 0, 1)

const after = ({ session }: Stepped, ...inputs: readonly Input[]): PbxSession =>
  inputs.reduce((now, input) => step(now, input, AT_MS).session, session)

/** A customer's call that alice has answered. Its channels are `trunk` and `<callId>-2`. */
function customerCall(): PbxSession {
  const callId = newCallId()
  const arrival = { tenant: 'acme', callId, channelId: 'trunk', from: '+15559000', called: agent(ALICE), refusal: null }
  const channelId = `${callId}-2`
  return after(
    beginArrival(arrival, AT_MS),
    { kind: 'ringing', channelId },
    { kind: 'ready', channelId, isUp: true },
    { kind: 'phone-holds', channelId },
  )
}

/** Alice has dialled bob at the phone. Her channel is `phone`, his `<callId>-2`. */
function callToBob(isAnswered = true): PbxSession {
  const callId = newCallId()
  const dial = { callId, tenant: 'acme', caller: agent(ALICE), called: agent(BOB), commandId: null, cli: null }
  const channelId = `${callId}-2`
  const begun = beginDial({ ...dial, correlationId: null, refusal: null, channelId: 'phone' }, AT_MS)
  const ringing: Input = { kind: 'ringing', channelId }
  return after(begun, ringing, ...(isAnswered ? [{ kind: 'ready', channelId, isUp: true } as const] : []))
}

const idOf = ({ group }: PbxSession) => group.sessionId
const how = (call: PbxSession) => ({ channelId: `${idOf(call)}-2`, otherChannelId: 'phone' })
const legOf = ({ group }: PbxSession, callId: string, agentUri: string) =>
  group.legs.find((leg) => leg.callId === callId && leg.agentUri === agentUri)

test('the call with the target becomes the consultation, and the phone keeps one channel', () => {
  const [call, other] = [customerCall(), callToBob()]
  const joined = join(call, other, how(call), AT_MS)
  expect(joined?.call).toEqual({ callId: idOf(call), agentUri: ALICE })
  expect(joined?.actions).toMatchObject([
    { kind: 'transfer-progress', channelId: `${idOf(call)}-2`, state: 'answered' },
    { kind: 'drop', channelId: `${idOf(call)}-2` },
  ])
  const session = joined?.session ?? call
  expect(legOf(session, idOf(call), ALICE)).toMatchObject({
    state: CallState.held,
    transfer: { blind: false, target: BOB, status: 2, otherCallId: idOf(other) },
    consultation: { callId: idOf(other), target: BOB },
  })
  expect(legOf(session, idOf(other), BOB)).toMatchObject({ consultation: { forCallId: idOf(call) } })
})

test('a join that is repeated after it was stored is told to the phone again', () => {
  const [call, other] = [customerCall(), callToBob()]
  const joined = join(call, other, how(call), AT_MS)
  if (joined === undefined) throw new Error('the calls were not joined')
  expect(joinedBefore(joined.session, how(call))).toEqual({
    session: joined.session,
    actions: [joined.actions[0]],
    later: [],
    call: joined.call,
  })
  for (const session of [call, other]) expect(joinedBefore(session, how(call))).toBeUndefined()
  expect(joinedBefore(joined.session, { channelId: 'phone', otherChannelId: `${idOf(call)}-2` })).toBeUndefined()
})

test('then the transfer is completed as by command', () => {
  const [call, other] = [customerCall(), callToBob()]
  const joined = join(call, other, how(call), AT_MS)
  if (joined === undefined) throw new Error('the calls were not joined')
  const done = step(joined.session, { kind: 'completeTransfer', commandId: null, ...joined.call }, AT_MS)
  expect(done.actions).toMatchObject([
    { kind: 'drop', channelId: 'phone' },
    { kind: 'move', channelIds: ['trunk', `${idOf(other)}-2`], bridge: idOf(call), waits: false },
    { kind: 'drop-bridge', bridge: idOf(other) },
  ])
  expect(legOf(done.session, idOf(call), ALICE)).toMatchObject({ ending: { endReason: 9 } })
  expect(legOf(done.session, idOf(other), ALICE)).toMatchObject({ ending: { endReason: 9 } })
  expect(legOf(done.session, idOf(other), BOB)).toMatchObject({ ending: { endReason: 9 } })
  expect(legOf(done.session, idOf(call), BOB)).toMatchObject({ state: CallState.connected, transfer: { status: 3 } })
})

test('every report has a higher order than those of both calls before', () => {
  const [call, other] = [customerCall(), callToBob()]
  const many = after(
    { session: other, actions: [], later: [] },
    ...Array.from(
      { length: 5 },
      (_, at) => ({ kind: at % 2 === 0 ? 'phone-holds' : 'phone-resumes', channelId: 'phone' }) as const,
    ),
  )
  const joined = join(call, many, how(call), AT_MS)
  const before = Math.max(...[...call.group.legs, ...many.group.legs].map(({ order }) => order))
  expect(legOf(joined?.session ?? call, idOf(call), ALICE)?.order).toBeGreaterThan(before)
  expect(legOf(joined?.session ?? call, idOf(other), BOB)?.order).toBeGreaterThan(before)
})

test.each<[string, () => Parameters<typeof join>[1], { channelId?: string; otherChannelId?: string }]>([
  ['the target still rings', () => callToBob(false), {}],
  ['the other channel is that of another party', () => callToBob(), { otherChannelId: 'bobs' }],
  ['the transferred channel is not in the call', () => callToBob(), { channelId: 'trunk' }],
  [
    'the other call is being transferred',
    () => {
      const session = callToBob()
      const target = { kind: 'outside' as const, address: '+15550100', asked: '+15550100', refusal: null }
      const transfer = { callId: idOf(session), agentUri: ALICE, commandId: newCommandId(), correlationId: null }
      return step(session, { kind: 'transfer', ...transfer, consultationCallId: null, target }, AT_MS).session
    },
    {},
  ],
])('two calls are not joined if %s', (_name, other, channels) => {
  const call = customerCall()
  const session = other()
  const otherChannelId = channels.otherChannelId === 'bobs' ? `${idOf(session)}-2` : 'phone'
  expect(join(call, session, { ...how(call), ...channels, otherChannelId }, AT_MS)).toBeUndefined()
})
