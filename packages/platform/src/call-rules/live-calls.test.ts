import { CallState, newCallId } from '@switchhook/contracts'
import type { Call, CallGroup } from './call-group.ts'
import { busyElsewhere, type LiveCall } from './live-calls.ts'

const ALICE = 'sip:alice@acme.example'
const [callId, consultation, other] = [newCallId(), newCallId(), newCallId()]
const transfer = { by: ALICE, target: { kind: 'outside', address: '1' }, ringsIn: null, consultation } as const

function aGroup(more: Partial<Call>): CallGroup {
  const caller = { kind: 'outside', address: '+15559000' } as const
  const called = { kind: 'agent', agentUri: ALICE, device: null } as const
  const rest = { phase: 'talking', cli: null, correlationId: null, talkMs: null, forCallId: null } as const
  const call: Call = {
    callId,
    caller,
    called,
    ...rest,
    transfer: { ...transfer, isAbandoned: false },
    ...more,
  }
  const calls = { [callId]: call, [consultation]: { ...call, callId: consultation, transfer: null } }
  return { tenant: 'acme', sessionId: callId, step: 1, calls, legs: [], commands: [] }
}

const isBusy = async (group: CallGroup, ...legs: readonly LiveCall[]): Promise<boolean> =>
  (await busyElsewhere(group, async () => legs)).has(ALICE)

test.each([
  [CallState.initiated, true],
  [CallState.proceeding, true],
  [CallState.connected, true],
  [CallState.alerting, false],
  [CallState.held, false],
  [CallState.unknown, false],
])('a transferred call returns on hold to an agent whose other call is in state %i: %p', async (state, expected) => {
  expect(await isBusy(aGroup({}), { callId, state: CallState.held }, { callId: other, state })).toBe(expected)
})

test('the calls of the group itself do not count', async () => {
  expect(await isBusy(aGroup({}), { callId: consultation, state: CallState.connected })).toBe(false)
})

test.each([{ transfer: null }, { phase: 'over' as const }])(
  'without a pending transfer nothing is read (%j)',
  async (more) => {
    const unread = () => Promise.reject(new Error('read'))
    expect(await busyElsewhere(aGroup(more), unread)).toEqual(new Set())
  },
)
