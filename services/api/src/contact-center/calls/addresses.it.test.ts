import { eventually } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const CALLS = '/api/v1/voice/calls'
const AGENT = 'sip:alice@acme.example'
const COLLEAGUE = 'tel:+15557001'

let api: ApiUnderTest
let acme: { authorization: string }

useApi(
  ['acme'],
  (world) =>
    ({
      api,
      headers: { acme },
    } = world),
  {
    SIMULATOR_AGENTS: JSON.stringify([AGENT, COLLEAGUE].map((agentUri) => ({ agentUri, tenant: 'acme' }))),
  },
)

const post = (path: string, json: object) => api.call('POST', `${CALLS}/${path}`, { headers: acme, json })

test.each(['+49 (030) 1234', 'bob', 'mailto:bob@acme.example', '+1555;ext=2'])(
  'a destination and a target that no platform can call is 400: %s',
  async (address) => {
    const dialled = await post('dial', { agentUri: AGENT, destination: address })
    expect(dialled).toMatchObject({ status: 400, body: { errors: [{ pointer: '/destination' }] } })
    const callId = '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'
    const transferred = await post(`${callId}/transfer`, { agentUri: AGENT, transferTarget: address })
    expect(transferred).toMatchObject({ status: 400, body: { errors: [{ pointer: '/transferTarget' }] } })
  },
)

test('one agent and one colleague in other spellings: the colleague rings', async () => {
  const { status, body } = await post('dial', { agentUri: 'SIP:alice@ACME.example', destination: '+1 (555) 7001' })
  expect({ status, body }).toMatchObject({ status: 202, body: { agentUri: AGENT } })
  const { callId } = body as { readonly callId: string }
  await eventually(async () => {
    const { body: call } = await api.call('GET', `${CALLS}/${callId}`, { headers: acme })
    expect((call as { legs: object[] }).legs).toContainEqual(expect.objectContaining({ agentUri: COLLEAGUE, state: 2 }))
  })
  expect(await post(`${callId}/hangup`, { agentUri: 'sip:alice@Acme.Example' })).toMatchObject({ status: 202 })
})
