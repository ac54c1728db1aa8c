import type { Schemas } from '@switchhook/client'
import { eventually } from '@switchhook/testkit'
import { type Client, openClient } from './client.ts'
import { type Desk, openDesk, ring, setDevice } from './desk.ts'
import { bringUp, end } from './stack.ts'

/** Each test uses its own agent. */
let number = 100
const anAgent = (): string => `sip:e2e-${number++}@acme.example`

let desk: Desk
let acme: Client
let replica: Client

beforeAll(async () => {
  ;[desk, acme, replica] = await Promise.all([openDesk(), openClient('acme'), openClient('acme', 1)])
})

afterAll(() => desk.close())

const pathOf = (agentUri: string, what: string): string => `/voice/agents/${encodeURIComponent(agentUri)}/${what}`
const stateOf = (agentUri: string) => replica.api.agents.state(agentUri)
const setPresence = (agentUri: string, body: Schemas['PresenceSetting']) => acme.api.agents.setPresence(agentUri, body)
const soon = (ms: number): string => new Date(Date.now() + ms).toISOString()

test('a new agent is available, logged on and idle', async () => {
  const agentUri = anAgent()
  expect(await stateOf(agentUri)).toEqual({
    agentUri,
    statusCode: 2,
    statusName: 'Available',
    standingStatusCode: 2,
    pendingStatusCode: null,
    deviceStatus: 1,
    deviceStatusName: 'idle',
    loggedOn: true,
    until: null,
    message: null,
    location: null,
    since: null,
    sequence: 0,
    occurredAt: null,
  })
  expect(await acme.api.agents.callState(agentUri)).toMatchObject({ agentUri, deviceStatus: 1, calls: [] })
})

test('setting a presence, as a string or a number, returns it, sends an event, and is visible at the other replica', async () => {
  const agentUri = anAgent()
  const lunch = await setPresence(agentUri, { statusCode: '66', message: 'back at two', location: 'canteen' })
  expect(lunch).toMatchObject({ statusCode: 66, statusName: 'Lunch', sequence: 1 })
  expect(await stateOf(agentUri)).toEqual(lunch)
  expect(await setPresence(agentUri, { statusCode: '82' })).toMatchObject({ statusCode: 82, message: null })
  await eventually(() => {
    expect(desk.agent(agentUri)).toMatchObject([
      { statusCode: 66, previousStatusCode: 2, reason: 1, sequence: 1, message: 'back at two', location: 'canteen' },
      { statusCode: 82, previousStatusCode: 66, reason: 1, sequence: 2, message: null },
    ])
  })
})

test('a temporary status expires and the permanent one returns, even if every api replica was killed in between', async () => {
  const agentUri = anAgent()
  await setPresence(agentUri, { statusCode: '82' })
  const until = soon(1_500)
  expect(await setPresence(agentUri, { statusCode: '66', until, message: 'soup' })).toMatchObject({
    statusCode: 66,
    standingStatusCode: 82,
    until,
  })
  await end('api-1', 'SIGKILL')
  await end('api-2', 'SIGKILL')
  await bringUp()
  await eventually(() => {
    expect(desk.agent(agentUri).at(-1)).toMatchObject({ statusCode: 82, reason: 5, until: null, message: null })
  })
  expect(Date.parse(String(desk.agent(agentUri).at(-1)?.['occurredAt']))).toBeGreaterThanOrEqual(Date.parse(until) - 5)
})

test('a call overrides the status, after-call work follows, and then a status set during the call applies', async () => {
  const agentUri = anAgent()
  const callId = await ring(agentUri)
  await eventually(async () => expect(await stateOf(agentUri)).toMatchObject({ deviceStatus: 6, statusCode: 2 }))
  await desk.command(`${callId}/answer`, { agentUri })
  expect(await stateOf(agentUri)).toMatchObject({ statusCode: 50, deviceStatusName: 'inUse' })
  await setPresence(agentUri, { statusCode: '66' })
  expect(await setPresence(agentUri, { statusCode: '82' })).toMatchObject({
    statusCode: 50,
    pendingStatusCode: 82,
  })
  await desk.command(`${callId}/hold`, { agentUri })
  expect(await stateOf(agentUri)).toMatchObject({ deviceStatusName: 'onHold' })
  await desk.command(`${callId}/hangup`, { agentUri })
  await eventually(async () => expect(await stateOf(agentUri)).toMatchObject({ statusCode: 82, sequence: 7 }))
  await eventually(() => {
    expect(desk.agent(agentUri).map(({ statusCode, reason }) => [statusCode, reason])).toEqual([
      [2, 6],
      [50, 2],
      [50, 1],
      [50, 1],
      [50, 6],
      [146, 3],
      [82, 4],
    ])
  })
})

test('the call state matches the last events and their sequence, so that a client can resynchronise', async () => {
  const agentUri = anAgent()
  const first = await ring(agentUri)
  await desk.command(`${first}/answer`, { agentUri })
  const second = await ring(agentUri, '+15559003')
  await desk.until(second, agentUri, ({ state }) => state === 2)
  const { calls, ...device } = await replica.api.agents.callState(agentUri)
  expect(device).toMatchObject({ agentUri, deviceStatus: 7 })
  expect(calls).toEqual([desk.leg(first, agentUri).at(-1), desk.leg(second, agentUri).at(-1)])
  for (const callId of [first, second]) await desk.command(`${callId}/hangup`, { agentUri })
})

test('a device that goes offline makes its agent unavailable and sends an event', async () => {
  const agentUri = anAgent()
  await setDevice(agentUri, false)
  expect(await stateOf(agentUri)).toMatchObject({ deviceStatusName: 'unavailable', statusCode: 2 })
  await setDevice(agentUri, true)
  expect(await stateOf(agentUri)).toMatchObject({ deviceStatusName: 'idle', sequence: 2 })
})

describe('bad input', () => {
  const agentUri = 'sip:e2e-199@acme.example'

  test.each<[string, object, string]>([
    ['an unknown status code', { statusCode: '3' }, 'unknown-status-code'],
    ['no status code', {}, 'unknown-status-code'],
    ['an until in the past', { statusCode: 66, until: '2020-01-01T00:00:00Z' }, 'invalid-request'],
    ['an invalid until', { statusCode: 66, until: 'soon' }, 'invalid-request'],
    ['a message that is too long', { statusCode: 66, message: 'x'.repeat(256) }, 'invalid-request'],
  ])('%s changes nothing', async (_name, body, code) => {
    const reply = await acme.request('POST', pathOf(agentUri, 'presence'), body)
    expect(reply).toMatchObject({ status: 400, body: { code } })
    expect(await stateOf(agentUri)).toMatchObject({ statusCode: 2, sequence: 0 })
  })

  test.each(['state', 'call-state'])('an unknown agent and an agent of another tenant have no %s', async (what) => {
    for (const unknown of ['sip:nobody@acme.example', 'sip:e2e-1@globex.example', '%']) {
      const reply = await acme.request('GET', pathOf(unknown, what))
      expect(reply).toMatchObject({ status: 404, body: { code: 'agent-not-found' } })
    }
    await expect(setPresence('sip:e2e-1@globex.example', { statusCode: '2' })).rejects.toMatchObject({ status: 404 })
  })

  test('a malformed path gets a problem response, never a 500', async () => {
    const reply = await acme.request('GET', '/voice/agents/%E0%A4%A/state')
    expect(reply.status).toBeLessThan(500)
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  })
})

describe('agent URIs', () => {
  test.each(['sip:jörg müller@acme.example', 'tel:+15557001', 'sip:odd?a=b#c/d%2Fe@acme.example'])(
    '%s works everywhere',
    async (agentUri) => {
      expect(await stateOf(agentUri)).toMatchObject({ agentUri, statusCode: expect.any(Number) })
      expect(await setPresence(agentUri, { statusCode: '66' })).toMatchObject({ agentUri, statusCode: 66 })
      const { callId } = await desk.command('dial', { agentUri, destination: '+15550101' })
      await desk.until(callId, agentUri, ({ state }) => state === 7)
    },
  )

  test('without special characters need no encoding', async () => {
    const agentUri = anAgent()
    const { body } = await acme.request('GET', `/voice/agents/${agentUri}/state`)
    expect(body).toMatchObject({ agentUri })
  })
})
