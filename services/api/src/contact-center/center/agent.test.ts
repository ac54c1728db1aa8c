import { CallState, newCallId } from '@switchhook/contracts'
import { liveCallsOf } from './agent.ts'

const AT_MS = Date.UTC(2026, 0, 1)
const at = new Date(AT_MS).toISOString()
const talking = { callId: newCallId(), state: CallState.connected }

test('a dial that the platform has not reported yet counts as a live call, for a while', () => {
  const dialled = { callId: newCallId(), at }
  const agent = { calls: [talking], reserved: [dialled] }
  expect(liveCallsOf(agent, AT_MS + 1_000)).toEqual([talking, { callId: dialled.callId, state: CallState.initiated }])
  expect(liveCallsOf(agent, AT_MS + 60_000)).toEqual([talking])
})
