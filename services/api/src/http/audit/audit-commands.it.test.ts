import { newCallId } from '@switchhook/contracts'
import type { Surroundings } from '@switchhook/servicekit'
import { eventually } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const VOICE = '/api/v1/voice'
const ALICE = 'sip:alice@acme.example'

interface Entry {
  readonly action: string
  readonly on: Readonly<Record<string, string>>
}

let surroundings: Surroundings<'acme'>
let api: ApiUnderTest
let headers: Record<string, string>

useApi(
  ['acme'],
  (world) => {
    ;({ around: surroundings, api } = world)
    headers = { ...surroundings.bearer('acme', { azp: 'crm', sub: 'jane' }), 'user-agent': 'crm/4.2' }
  },
  { AUDIT_LOG_SIZE: '5', AUDIT_COMMANDS_SIZE: '3' },
)

const send = (path: string, json: object, more: Record<string, string> = {}) =>
  api.call('POST', path, { headers: { ...headers, ...more }, json })

async function entries(query = ''): Promise<readonly Entry[]> {
  const { status, body } = await api.call('GET', `/api/v1/audit${query}`, { headers })
  expect(status).toBe(200)
  return (body as { items: readonly Entry[] }).items
}

/** The entries once the newest one has this action. The entry of a command is stored after its answer. */
const entriesUpTo = (action: string, query = ''): Promise<readonly Entry[]> =>
  eventually(async () => {
    const found = await entries(query)
    if (found[0]?.action !== action) throw new Error(`the newest entry is ${found[0]?.action}`)
    return found
  })

async function ring(): Promise<string> {
  const { body } = await api.call('POST', '/simulator/v1/calls', { json: { agentUri: ALICE, from: '+15559001' } })
  const { callId } = body as { readonly callId: string }
  await eventually(async () => {
    const { body } = await api.call('GET', `${VOICE}/calls/${callId}`, { headers })
    expect(body).toMatchObject({ legs: [{ state: 2 }] })
  })
  return callId
}

test('who answered and hung up which call of which agent, and set a status, is in the audit log', async () => {
  const callId = await ring()
  const answered = await send(`${VOICE}/calls/${callId}/answer`, { agentUri: ALICE })
  expect(answered.status).toBe(202)
  const { commandId } = answered.body as { readonly commandId: string }
  const [entry] = await entriesUpTo('call.answered')
  expect(entry).toEqual({
    id: expect.stringMatching(/^\d+-\d+$/),
    at: expect.any(String),
    action: 'call.answered',
    clientId: 'crm',
    subject: 'jane',
    issuer: surroundings.idps.acme.issuer,
    on: { callId, agentUri: ALICE, commandId },
    fields: ['agentUri'],
    address: '127.0.0.1',
    userAgent: 'crm/4.2',
    status: 202,
    requestId: answered.headers.get('x-request-id'),
    traceId: expect.any(String),
  })
  expect((await send(`${VOICE}/calls/${callId}/hangup`, { agentUri: ALICE })).status).toBe(202)
  const presence = `${VOICE}/agents/${encodeURIComponent(ALICE)}/presence`
  expect((await send(presence, { statusCode: '66', message: 'a private matter' })).status).toBe(202)
  expect(await entriesUpTo('agent.presence-set')).toMatchObject([
    { action: 'agent.presence-set', on: { agentUri: ALICE }, fields: ['statusCode', 'message'] },
    { action: 'call.hung-up', on: { callId, agentUri: ALICE } },
    { action: 'call.answered', on: { callId, agentUri: ALICE } },
  ])
  expect(JSON.stringify(await entries())).not.toContain('private')
  const lines = api.log.filter(({ message }) => message === 'audit')
  expect(lines.map(({ fields }) => fields['action'])).toEqual(['call.answered', 'call.hung-up', 'agent.presence-set'])
})

test('a dial is one entry, also if it is replayed; refused commands and those without effect leave none', async () => {
  const dial = { agentUri: ALICE, destination: '+15550102' }
  const key = { 'idempotency-key': 'once' }
  const dialled = await eventually(async () => {
    const answer = await send(`${VOICE}/calls/dial`, dial, key)
    expect(answer.status).toBe(202)
    return answer
  })
  await send(`${VOICE}/calls/dial`, dial, key)
  const { callId } = dialled.body as { readonly callId: string }
  expect((await send(`${VOICE}/calls/${newCallId()}/hangup`, { agentUri: ALICE })).status).toBe(404)
  expect((await send(`${VOICE}/calls/${callId}/hangup`, { agentUri: ALICE })).status).toBe(202)
  await eventually(async () => {
    const again = await send(`${VOICE}/calls/${callId}/hangup`, { agentUri: ALICE })
    expect(again).toMatchObject({ status: 202, body: { noop: true } })
  })
  const ofCall = (await entriesUpTo('call.hung-up')).filter(({ on }) => on['callId'] === callId)
  expect(ofCall).toMatchObject([
    { action: 'call.hung-up' },
    { action: 'call.dialled', on: { callId, agentUri: ALICE }, fields: ['agentUri', 'destination'] },
  ])
})

test('commands never push out webhook changes, and both are filtered by list and by action', async () => {
  await api.call('POST', '/api/v1/webhooks/subscriptions', {
    headers,
    json: { url: 'https://client.example', eventTypes: ['call.status'] },
  })
  const presence = `${VOICE}/agents/${encodeURIComponent(ALICE)}/presence`
  for (let times = 0; times < 7; times++) expect((await send(presence, { statusCode: '2' })).status).toBe(202)
  const last = await send(presence, { statusCode: '10' })
  await eventually(async () => {
    expect((await entries())[0]).toMatchObject({ requestId: last.headers.get('x-request-id') })
  })
  const actions = async (query: string): Promise<string[]> => (await entries(query)).map(({ action }) => action)
  const commands = ['agent.presence-set', 'agent.presence-set', 'agent.presence-set']
  expect(await actions('')).toEqual([...commands, 'subscription.created'])
  expect(await actions('?list=webhooks')).toEqual(['subscription.created'])
  expect(await actions('?list=commands')).toEqual(commands)
  expect(await actions('?action=agent.presence-set')).toEqual(commands)
  expect(await actions('?action=subscription.created&list=commands')).toEqual([])
})
