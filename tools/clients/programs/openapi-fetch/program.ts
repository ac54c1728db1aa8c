import createClient from 'openapi-fetch'
import type { components, paths } from './schema.js'

const AGENT = 'sip:alice@acme.example'
const env = process.env as Record<string, string>
const CALL_STATE_ENDED: components['schemas']['CallStateNumber'] = 7

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

function must<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data
}

const form = {
  grant_type: 'client_credentials',
  client_id: 'acme-app',
  client_secret: 'acme-secret',
  scope: 'switchhook/.default',
}
const answer = await fetch(env['TOKEN_URL'] ?? '', { method: 'POST', body: new URLSearchParams(form) })
const { access_token: token } = (await answer.json()) as { access_token: string }
const clientOf = (baseUrl: string | undefined) =>
  createClient<paths>({ baseUrl: baseUrl ?? '', headers: { authorization: `Bearer ${token}` } })
const client = clientOf(env['API'])

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
const SUBSCRIPTION = '/api/v1/webhooks/subscriptions/{id}'
const filter = { 'call.status': { state: [7] } }
const created = must(
  await client.POST(SUBSCRIPTIONS, {
    body: { url: env['HOOK'] ?? '', eventTypes: ['call.status'], description: 'typescript', filter },
  }),
)
const other = must(await client.POST(SUBSCRIPTIONS, { body: { mode: 'pull', eventTypes: ['agent.status'] } }))
const listed: string[] = []
for (let cursor: string | undefined; ; ) {
  const page = await client.GET(SUBSCRIPTIONS, { params: { query: { limit: 1, ...(cursor && { cursor }) } } })
  listed.push(...must(page).map(({ id }) => id))
  cursor = page.response.headers.get('next-cursor') ?? undefined
  if (cursor === undefined) break
}
check(
  [created.id, other.id].every((id) => listed.includes(id)),
  'list over pages',
)
const params = { path: { id: created.id } }
const changed = must(await client.PATCH(SUBSCRIPTION, { params, body: { description: 'changed' } }))
check(changed.description === 'changed' && changed.eventTypes[0] === 'call.status' && changed.filter !== null, 'patch')

const accepted = must(
  await client.POST('/api/v1/voice/calls/dial', { body: { agentUri: AGENT, destination: '+15550101' } }),
)
const ofAgent = { path: { agentUri: AGENT } }
check(
  must(await client.GET('/api/v1/voice/agents/{agentUri}/call-state', { params: ofAgent })).agentUri === AGENT,
  'call state',
)
const DELIVERIES = '/api/v1/webhooks/subscriptions/{id}/deliveries'
async function parked(run: number) {
  for (let i = 0; i < 100; i++) {
    const from = new Date(Date.now() - 3_600_000).toISOString()
    const page = must(await client.GET(DELIVERIES, { params: { ...params, query: { state: 'parked', from } } }))
    const found = page.items.find((item) => item.run >= run)
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('no delivery was parked')
}
const first = await parked(1)
check(first.attempts[0]?.status === 400, 'attempt')
const call = must(await client.GET('/api/v1/voice/calls/{callId}', { params: { path: { callId: accepted.callId } } }))
check(call.legs[0]?.state === CALL_STATE_ENDED, 'state of the call')
const PRESENCE = '/api/v1/voice/agents/{agentUri}/presence'
check(must(await client.POST(PRESENCE, { params: ofAgent, body: { statusCode: '66' } })).statusCode === 66, 'presence')
must(await client.POST(PRESENCE, { params: ofAgent, body: { statusCode: '2' } }))

const { ORIGINAL_CALL = '', CONSULTATION_CALL = '', TARGET } = env
const consultationOf = async (callId: string) =>
  must(await client.GET('/api/v1/voice/calls/{callId}', { params: { path: { callId } } })).legs[0]?.consultation
const original = await consultationOf(ORIGINAL_CALL)
check(original?.callId === CONSULTATION_CALL && original.target === TARGET, 'original call')
const consultation = await consultationOf(CONSULTATION_CALL)
check(consultation?.forCallId === ORIGINAL_CALL && consultation.callId === undefined, 'consultation')
check(must(await client.GET('/api/v1/webhooks/policy')).retention.parkedMs === 30 * 86_400_000, 'policy')

const again = { path: { deliveryId: first.deliveryId } }
check(
  must(await client.POST('/api/v1/webhooks/deliveries/{deliveryId}/redeliver', { params: again })).run === 2,
  'redeliver',
)
await parked(2)
check(
  must(await client.POST('/api/v1/webhooks/subscriptions/{id}/recover/preview', { params, body: {} })).count === 1,
  'preview',
)
check(
  must(await client.POST('/api/v1/webhooks/subscriptions/{id}/recover', { params, body: {} })).found === 1,
  'recover',
)
const { error } = await client.GET(SUBSCRIPTION, { params: { path: { id: crypto.randomUUID() } } })
check(error?.code === 'subscription-not-found', 'code')

const later = clientOf(env['CHANGED_API'])
check(
  must(await later.GET('/api/v1/voice/agents/{agentUri}/state', { params: ofAgent })).deviceStatus === 99,
  'an unknown number',
)
check(must(await later.GET(SUBSCRIPTION, { params })).health.state === 'later', 'an unknown value')
check(
  must(await later.GET(DELIVERIES, { params: { ...params, query: { state: 'any' } } })).items.length > 0,
  'unknown fields',
)
check(must(await later.GET('/api/v1/voice/calls')).items.length > 0, 'calls with unknown values')
for (const { id } of [created, other]) await client.DELETE(SUBSCRIPTION, { params: { path: { id } } })
