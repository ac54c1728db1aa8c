import { createClient } from '@switchhook/client'
import { eventually } from '@switchhook/testkit'

const CUSTOMER = '+15559000'
const TALK_SECONDS = 3_600
const [AGENT, TARGET] = ['sip:bob@acme.example', 'sip:carol@acme.example'] as const

/** The programs use alice. */
export const AGENTS = ['sip:alice@acme.example', AGENT, TARGET].map((agentUri) => ({ agentUri, tenant: 'acme' }))

/** An agent consults another one while a customer is on hold, which lasts an hour. Resolves to the variables of the programs. */
export async function beginAttendedTransfer(baseUrl: string, token: string) {
  const { calls, simulator } = createClient({ baseUrl, auth: () => Promise.resolve(token) })
  const ringing = { agentUri: AGENT, from: CUSTOMER, talkForSeconds: TALK_SECONDS }
  const { callId } = await simulator.call(ringing)
  await eventually(() => calls.answer(callId, { agentUri: AGENT }))
  const transfer = { agentUri: AGENT, transferTarget: TARGET }
  const { consultationCallId = '' } = await eventually(() => calls.transfer(callId, transfer))
  await eventually(() => calls.answer(consultationCallId, { agentUri: TARGET }))
  await eventually(async () => {
    const { legs } = await calls.read(callId)
    if (legs[0]?.consultation?.callId !== consultationCallId) throw new Error('the call shows no consultation')
  })
  return { ORIGINAL_CALL: callId, CONSULTATION_CALL: consultationCallId, TARGET }
}
