import { CallState } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const CALLS = '/api/v1/voice/calls'
const agent = (n: number): string => `sip:a${n}@acme.example`

let api: ApiUnderTest
let acme: { authorization: string }

const SIMULATOR_AGENTS = JSON.stringify([{ agentUri: 'sip:a{n}@acme.example', tenant: 'acme', count: 5 }])

useApi(
  ['acme'],
  (world) =>
    ({
      api,
      headers: { acme },
    } = world),
  { SIMULATOR_AGENTS },
)

const post = async (path: string, json: object) => {
  const { status, body } = await api.call('POST', `${CALLS}/${path}`, { headers: acme, json })
  return { status, body: body as { callId: string; correlationId: string | null } }
}

test('a dial with an empty correlation id has none, and is not the same as another one', async () => {
  const dial = { agentUri: agent(1), destination: '+15550102', correlationId: '' }
  expect(await post('dial', dial)).toMatchObject({ status: 202, body: { correlationId: null, noop: false } })
  expect(await post('dial', dial)).toMatchObject({ status: 409, body: { code: 'agent-device-unavailable' } })
})

test('a transfer with an empty correlation id keeps that of the dial', async () => {
  const agentUri = agent(2)
  const callId = await dialled(agentUri)
  const transfer = { agentUri, transferTarget: '+15550102', blind: true, correlationId: '' }
  expect(await post(`${callId}/transfer`, transfer)).toMatchObject({ status: 202, body: { correlationId: 'crm-1' } })
  await eventually(async () =>
    expect(await legsOf(callId)).toMatchObject([{ state: CallState.held, correlationId: 'crm-1' }]),
  )
})

/** A connected call of this agent, dialled with the correlation id `crm-1`. */
async function dialled(agentUri: string): Promise<string> {
  const { body } = await post('dial', { agentUri, destination: '+15550110', correlationId: 'crm-1' })
  await eventually(async () =>
    expect(await legsOf(body.callId)).toMatchObject([{ state: CallState.connected, correlationId: 'crm-1' }]),
  )
  return body.callId
}

const legsOf = async (callId: string) =>
  ((await api.call('GET', `${CALLS}/${callId}`, { headers: acme })).body as { legs: readonly object[] }).legs

test('the correlation id of the request that completes a transfer is in the events', async () => {
  const [agentUri, transferTarget] = [agent(3), agent(4)]
  const callId = await dialled(agentUri)
  const transfer = { agentUri, transferTarget, correlationId: 'crm-2' }
  const { body } = await post(`${callId}/transfer`, transfer)
  const { consultationCallId } = body as { consultationCallId?: string }
  await eventually(async () =>
    expect(await post(`${consultationCallId}/answer`, { agentUri: transferTarget })).toMatchObject({ status: 202 }),
  )
  expect(await post(`${callId}/transfer`, { ...transfer, correlationId: 'crm-3' })).toMatchObject({
    status: 202,
    body: { correlationId: 'crm-3' },
  })
  expect(await legsOf(callId)).toMatchObject([
    { state: CallState.ended, correlationId: 'crm-3' },
    { state: CallState.connected, correlationId: 'crm-3' },
  ])
})

test('a repeated blind transfer does nothing, and its answer has the correlation id of the call', async () => {
  const agentUri = agent(5)
  const callId = await dialled(agentUri)
  const transfer = { agentUri, transferTarget: '+15550102', blind: true }
  await post(`${callId}/transfer`, transfer)
  expect(await post(`${callId}/transfer`, { ...transfer, correlationId: 'crm-2' })).toMatchObject({
    body: { noop: true, correlationId: 'crm-1' },
  })
})
