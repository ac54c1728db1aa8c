import { CallState, newCallId } from '@switchhook/contracts'
import { logFanOut, loggedEvent, type Surroundings } from '@switchhook/servicekit'
import type { Redis } from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const VOICE = '/api/v1/voice'
const AGENTS = 230

interface Leg {
  readonly callId: string
  readonly agentUri: string
  readonly state: number
  readonly occurredAt: string
  readonly allowedCommands: readonly string[]
}

let around: Surroundings<'acme' | 'globex'>
let api: ApiUnderTest
let redis: Redis

const SIMULATOR_AGENTS = JSON.stringify([
  { agentUri: 'sip:a{n}@acme.example', tenant: 'acme', count: AGENTS },
  { agentUri: 'sip:carol@globex.example', tenant: 'globex' },
])

useApi(['acme', 'globex'], (world) => ({ around, api, redis } = world), { SIMULATOR_AGENTS, WRAP_UP_SECONDS: '0' })

const agent = (n: number): string => `sip:a${n}@acme.example`

const get = async (path: string, tenant: 'acme' | 'globex' = 'acme') => {
  const { status, body } = await api.call('GET', `${VOICE}${path}`, { headers: around.bearer(tenant) })
  return { status, body: body as { items: (Leg & { calls: Leg[] })[]; nextCursor: string | null; legs: Leg[] } }
}

/** All items of all pages. */
async function everyPage(path: string, tenant: 'acme' | 'globex' = 'acme') {
  const items: (Leg & { calls: Leg[] })[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await get(`${path}${cursor === '' ? '' : `&cursor=${cursor}`}`, tenant)
    expect(status).toBe(200)
    items.push(...body.items)
    cursor = body.nextCursor
    if (cursor !== null) expect(body.items).not.toEqual([])
  }
  return items
}

async function ring(agentUri: string): Promise<string> {
  const { status, body } = await api.call('POST', '/simulator/v1/calls', { json: { agentUri, from: '+15559001' } })
  expect(status).toBe(202)
  return (body as { callId: string }).callId
}

async function hangUp(callId: string, agentUri: string): Promise<Leg> {
  const headers = around.bearer('acme')
  expect((await api.call('POST', `${VOICE}/calls/${callId}/hangup`, { headers, json: { agentUri } })).status).toBe(202)
  return eventually(async () => {
    const [leg] = (await get(`/calls/${callId}`)).body.legs
    if (leg?.state !== CallState.ended) throw new Error('the leg has not ended yet')
    return leg
  })
}

/** Lists the event that ended the leg, as fan-out does. No fan-out runs here. */
const logEnd = ({ callId, agentUri, occurredAt }: Leg): Promise<void> =>
  logFanOut(redis, loggedEvent({ occurredAt, subject: { callId, agentUri, correlationId: null } }))

test('agents are listed by URI, each on one page, with their live calls', async () => {
  const callId = await ring(agent(7))
  const listed = await everyPage('/agents?limit=100')
  expect(listed.map(({ agentUri }) => agentUri)).toEqual(
    Array.from({ length: AGENTS }, (_, n) => agent(n + 1)).toSorted(),
  )
  const busy = listed.filter(({ calls }) => calls.length > 0)
  expect(busy).toMatchObject([
    { agentUri: agent(7), calls: [{ callId, state: CallState.alerting, allowedCommands: ['answer', 'hangup'] }] },
  ])
  expect((await everyPage('/agents?limit=1', 'globex')).map(({ agentUri }) => agentUri)).toEqual([
    'sip:carol@globex.example',
  ])
  await hangUp(callId, agent(7))
})

test('live legs are listed by agent, and ended ones after them, each on one page', async () => {
  const ended = []
  for (const n of [11, 12, 13]) ended.push(await hangUp(await ring(agent(n)), agent(n)))
  for (const leg of ended) await logEnd(leg)
  const live = await Promise.all([ring(agent(3)), ring(agent(200)), ring(agent(21))])
  const idsOf = (legs: readonly Leg[]): string[] => legs.map(({ callId }) => callId)
  const wantedLive = [live[1], live[2], live[0]]
  const wantedEnded = idsOf(ended).toReversed()
  for (const limit of [1, 2, 100]) {
    expect(idsOf(await everyPage(`/calls?live=true&limit=${limit}`))).toEqual(wantedLive)
    expect(idsOf(await everyPage(`/calls?live=false&limit=${limit}`))).toEqual(wantedEnded)
    expect(idsOf(await everyPage(`/calls?limit=${limit}`))).toEqual([...wantedLive, ...wantedEnded])
  }
  const [over] = (await get('/calls?live=false')).body.items
  expect(over).toMatchObject({ state: CallState.ended, allowedCommands: [] })
  for (const spelling of [agent(12), 'SIP:a12@ACME.example']) {
    const one = encodeURIComponent(spelling)
    expect(idsOf(await everyPage(`/calls?agentUri=${one}&limit=5`))).toEqual([ended[1]?.callId])
  }
  expect(idsOf(await everyPage(`/calls?live=true&agentUri=${encodeURIComponent(agent(3))}&limit=5`))).toEqual([live[0]])
  expect(await everyPage(`/calls?agentUri=${encodeURIComponent('sip:nobody@acme.example')}&limit=5`)).toEqual([])
  expect(await everyPage('/calls?limit=5', 'globex')).toEqual([])
})

test('an earlier event of an ended leg, or an event of another platform, lists nothing', async () => {
  const leg = await hangUp(await ring(agent(31)), agent(31))
  await logEnd({ ...leg, occurredAt: '2026-01-01T00:00:00.000Z' })
  await logEnd({ ...leg, callId: newCallId() })
  await logEnd({ ...leg, callId: 'not a GUID' })
  const one = encodeURIComponent(agent(31))
  expect(await everyPage(`/calls?live=false&agentUri=${one}&limit=5`)).toEqual([])
})

test('a call is read with the legs of all its agents', async () => {
  const headers = around.bearer('acme')
  const json = { agentUri: agent(41), destination: agent(42) }
  const dialled = (await api.call('POST', `${VOICE}/calls/dial`, { headers, json })).body as { callId: string }
  const { legs } = await eventually(async () => {
    const { body } = await get(`/calls/${dialled.callId}`)
    expect(body.legs).toHaveLength(2)
    return body
  })
  expect(legs.map(({ agentUri }) => agentUri).toSorted()).toEqual([agent(41), agent(42)])
  expect(await get(`/calls/${dialled.callId}`, 'globex')).toMatchObject({
    status: 404,
    body: { code: 'call-not-found' },
  })
  expect(await get(`/calls/${newCallId()}`)).toMatchObject({ status: 404 })
  expect(await get('/calls/x')).toMatchObject({ status: 404 })
})

test.each([
  ['/agents?cursor=x', '/cursor'],
  ['/calls?cursor=x', '/cursor'],
  ['/calls?live=true&cursor=x', '/cursor'],
  ['/calls?live=maybe', '/live'],
  ['/calls?limit=0', '/limit'],
])('%s is rejected', async (path, pointer) => {
  expect(await get(path)).toMatchObject({ status: 400, body: { code: 'invalid-request', errors: [{ pointer }] } })
})
