import { type CallId, CallState, newCallId } from '@switchhook/contracts'
import { pbxAgents } from './agents.ts'
import { createOpenLines, type OpenLinesDeps } from './open-lines.ts'

const ALICE = {
  agentUri: 'sip:alice@acme.example',
  tenant: 'acme',
  endpoint: 'alice',
  extension: '8101',
  answer: 'connected',
} as const

test('a call that the line was lent to just before its end is told of the end', async () => {
  const callId = newCallId()
  const told: CallId[] = []
  let calls: Awaited<ReturnType<OpenLinesDeps['liveCalls']>> = []
  const lines = createOpenLines({
    agents: pbxAgents([ALICE]),
    liveCalls: async () => calls,
    now: () => 0,
    sessions: {
      apply: async (_tenant, sessionId) => {
        told.push(sessionId)
        // Until here the line is open for a call that begins.
        calls = [{ callId, state: CallState.alerting }]
        return true
      },
      begin: async () => {},
      find: async () => undefined,
    },
  })
  await lines.apply(ALICE, { kind: 'gone', channelId: 'line', cause: 16, sipCode: null })
  expect(told).toEqual([lines.sessionOf(ALICE).sessionId, callId])
})
