import { CallState, EndReason, newCallId, newCommandId, TransferStatus } from '@switchhook/contracts'
import type { Party } from '@switchhook/platform'
import { beginDial } from './begin.ts'
import type { Input } from './input.ts'
import type { PbxSession } from './session.ts'
import { step } from './step.ts'

const [ALICE, BOB, CAROL] = ['sip:alice@acme.example', 'sip:bob@acme.example', 'sip:carol@acme.example'] as const
const agent = (agentUri: string): Party => ({ kind: 'agent', agentUri, device: null })
const AT_MS = Date.UTC(2026, 0, 1)

const on = (session: PbxSession, input: Input): PbxSession => step(session, input, AT_MS).session

/** The phone of the agent answers. */
function answers(session: PbxSession, agentUri: string): PbxSession {
  const channelId = session.channels.find(({ line }) => line === agentUri)?.id ?? ''
  return on(session, { kind: 'ready', channelId, isUp: true })
}

test('a transfer to an agent whose phone already serves the group of calls fails as busy', () => {
  const [callId, consultationCallId] = [newCallId(), newCallId()]
  const transfer = { kind: 'transfer', correlationId: null } as const
  const targetOf = (agentUri: string) => ({ ...agent(agentUri), asked: agentUri, refusal: null })
  const dial = { tenant: 'acme', callId, caller: agent(ALICE), called: agent(BOB), cli: null, correlationId: null }
  let { session } = beginDial({ ...dial, commandId: newCommandId(), refusal: null, channelId: null }, AT_MS)
  session = answers(answers(session, ALICE), BOB)
  const commandId = newCommandId()
  session = on(session, {
    ...transfer,
    callId,
    agentUri: ALICE,
    commandId,
    consultationCallId,
    target: targetOf(CAROL),
  })
  session = answers(session, CAROL)
  // Bob's only channel is in the first call, so he could not hear the second one ring.
  const leg = { callId: consultationCallId, agentUri: CAROL, commandId: newCommandId() }
  session = on(session, { ...transfer, ...leg, consultationCallId: null, target: targetOf(BOB) })
  const carol = session.group.legs.find(({ agentUri }) => agentUri === CAROL)
  expect(carol).toMatchObject({
    state: CallState.connected,
    transfer: { status: TransferStatus.failed, failReason: EndReason.busy },
  })
})
