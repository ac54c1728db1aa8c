import { randomUUID } from 'node:crypto'
import { openClient } from './client.ts'
import { type Accepted, type Desk, openDesk, remotely, ring, states } from './desk.ts'

/** Each test uses its own agents. */
let number = 50
const anAgent = (): string => `sip:e2e-${number++}@acme.example`

let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})

afterAll(() => desk.close())

const dial = (agentUri: string, destination: string, more: object = {}, key?: string) =>
  desk.command('dial', { agentUri, destination, ...more }, key)

const inState = (state: number) => (latest: { state: number }) => latest.state === state

test('an outbound call is dialled, held, resumed and hung up, and every event carries cli and correlation id', async () => {
  const agentUri = anAgent()
  const { callId, commandId } = await dial(agentUri, '+15550100', { cli: '+15550199', correlationId: 'crm-1' })
  await desk.until(callId, agentUri, inState(3))
  const hold = await desk.command(`${callId}/hold`, { agentUri })
  expect(hold).toMatchObject({ callId, agentUri, command: 'hold', correlationId: 'crm-1', noop: false })
  expect(await desk.until(callId, agentUri, inState(4))).toMatchObject({ held: true, commandId: hold.commandId })
  await desk.command(`${callId}/resume`, { agentUri })
  await desk.until(callId, agentUri, inState(3))
  await desk.command(`${callId}/hangup`, { agentUri })
  await desk.until(callId, agentUri, inState(7))

  const events = desk.leg(callId, agentUri)
  expect(states(events)).toEqual([1, 8, 3, 4, 3, 7])
  expect(new Set(events.map(({ cli, correlationId }) => `${cli} ${correlationId}`))).toEqual(
    new Set(['+15550199 crm-1']),
  )
  expect(events[0]).toMatchObject({ commandId, direction: 2, internal: false, role: 1 })
  expect(events.at(-1)).toMatchObject({ endReason: 1, endedBy: 1 })
})

test('an inbound call rings, is answered, and ends when the caller hangs up', async () => {
  const agentUri = anAgent()
  const callId = await ring(agentUri, '+15559001')
  expect(await desk.until(callId, agentUri, inState(2))).toMatchObject({
    direction: 1,
    role: 2,
    remoteParty: { uri: 'tel:+15559001', number: '+15559001', type: 3 },
  })
  const answer = await desk.command(`${callId}/answer`, { agentUri })
  expect(await desk.until(callId, agentUri, inState(3))).toMatchObject({ commandId: answer.commandId })
  await remotely(callId, 'hangup')
  expect(await desk.until(callId, agentUri, inState(7))).toMatchObject({ endReason: 1, endedBy: 2 })
  expect(states(desk.leg(callId, agentUri))).toEqual([2, 3, 7])
})

test('a declined call ends as rejected, and an abandoned one as cancelled', async () => {
  const agentUri = anAgent()
  const declined = await ring(agentUri)
  await desk.command(`${declined}/hangup`, { agentUri })
  expect(await desk.until(declined, agentUri, inState(7))).toMatchObject({ endReason: 6, endedBy: 1 })
  const missed = await ring(agentUri)
  await remotely(missed, 'hangup')
  expect(await desk.until(missed, agentUri, inState(7))).toMatchObject({ endReason: 5, endedBy: 2 })
})

test('answering a second call puts the first one on hold, with its event, before the second is connected', async () => {
  const agentUri = anAgent()
  const first = await ring(agentUri)
  await desk.command(`${first}/answer`, { agentUri })
  const second = await ring(agentUri, '+15559002')
  await desk.command(`${second}/answer`, { agentUri })
  const held = await desk.until(first, agentUri, inState(4))
  const connected = await desk.until(second, agentUri, inState(3))
  expect(held).toMatchObject({ held: true, commandId: connected.commandId })
  await desk.command(`${first}/resume`, { agentUri })
  await desk.until(first, agentUri, inState(3))
  await desk.until(second, agentUri, inState(4))
  for (const callId of [first, second]) await desk.command(`${callId}/hangup`, { agentUri })
})

test('a hold by the far end is reported without a change of state', async () => {
  const agentUri = anAgent()
  const callId = await ring(agentUri)
  await desk.command(`${callId}/answer`, { agentUri })
  await remotely(callId, 'hold')
  expect(await desk.until(callId, agentUri, ({ remoteHeld }) => remoteHeld)).toMatchObject({ state: 3, held: false })
  await remotely(callId, 'resume')
  await desk.until(callId, agentUri, ({ remoteHeld }) => !remoteHeld)
  await desk.command(`${callId}/hangup`, { agentUri })
})

test('a failed hold is reported and the call stays connected', async () => {
  const agentUri = anAgent()
  const { callId } = await dial(agentUri, '+15550104')
  await desk.until(callId, agentUri, inState(3))
  await desk.command(`${callId}/hold`, { agentUri })
  expect(await desk.until(callId, agentUri, ({ commandResult }) => commandResult !== null)).toMatchObject({
    state: 3,
    previousState: 3,
    held: false,
    commandResult: { command: 4, result: 2, reason: 7 },
  })
  await desk.command(`${callId}/hangup`, { agentUri })
})

test('of concurrent commands, each that is accepted has an event, unless it is answered as noop', async () => {
  const agentUri = anAgent()
  const { callId } = await dial(agentUri, '+15550100')
  await desk.until(callId, agentUri, inState(3))
  for (const [command, state] of [...Array(4)].flatMap(() => [['hold', 4] as const, ['resume', 3] as const])) {
    const answers = await Promise.all([1, 2].map(() => desk.command(`${callId}/${command}`, { agentUri })))
    const ids = answers.flatMap(({ noop, commandId }) => (noop ? [] : [commandId]))
    const named = () => new Set(desk.leg(callId, agentUri).map(({ commandId }) => commandId))
    await desk.until(callId, agentUri, (latest) => latest.state === state && ids.every((id) => named().has(id)))
  }
  await desk.command(`${callId}/hangup`, { agentUri })
})

describe('a repeated command', () => {
  test('with an Idempotency-Key is executed once, on any replica', async () => {
    const agentUri = anAgent()
    const key = randomUUID()
    const answers = await Promise.all([1, 2, 3].map(() => dial(agentUri, '+15550102', {}, key)))
    expect(new Set(answers.map(({ callId }) => callId)).size).toBe(1)
    const callId = answers[0]?.callId ?? ''
    const hangups = randomUUID()
    const ends = [
      await desk.command(`${callId}/hangup`, { agentUri }, hangups),
      await desk.command(`${callId}/hangup`, { agentUri }, hangups),
    ]
    expect(ends[1]).toEqual(ends[0])
  })

  test('without a key, a dial with the same correlation id returns the same call while it lives, and dials again after its end', async () => {
    const agentUri = anAgent()
    const body = { agentUri, destination: '+15550102', correlationId: randomUUID() }
    // The product's client sends a key with every dial.
    const clients = await Promise.all([openClient('acme', 0), openClient('acme', 1)])
    const dialAgain = async (replica: 0 | 1) =>
      (await clients[replica].request<Accepted>('POST', '/voice/calls/dial', body)).body
    const answers = await Promise.all([dialAgain(0), dialAgain(1)])
    expect(new Set(answers.map(({ callId }) => callId)).size).toBe(1)
    const { callId } = answers[0]
    // Until the platform reports the call, a repeat sends the dial again. Both answers may then have `noop: false`.
    expect(await dialAgain(0)).toMatchObject({ callId, noop: true })
    await desk.command(`${callId}/hangup`, { agentUri })
    await desk.until(callId, agentUri, inState(7))
    const next = await dialAgain(1)
    expect(next).toMatchObject({ noop: false })
    expect(next.callId).not.toBe(callId)
    await desk.command(`${next.callId}/hangup`, { agentUri })
    await desk.until(next.callId, agentUri, inState(7))
    const other = await dial(agentUri, '+15550102', { correlationId: randomUUID() })
    expect([callId, next.callId]).not.toContain(other.callId)
    await desk.command(`${other.callId}/hangup`, { agentUri })
  })
})

describe('bad input', () => {
  const callId = '5f0c1f5e-2c55-4f0a-8f6b-6f1d3f2a9b10'
  const agentUri = 'sip:e2e-191@acme.example'

  test.each<[string, string, object, number, string]>([
    ['a transfer without a target', `${callId}/transfer`, { agentUri }, 400, 'invalid-request'],
    ['a transfer to oneself', `${callId}/transfer`, { agentUri, transferTarget: agentUri }, 400, 'invalid-request'],
    ['a dial to oneself', 'dial', { agentUri, destination: agentUri }, 400, 'invalid-request'],
    [
      'a blind that is none',
      `${callId}/transfer`,
      { agentUri, transferTarget: '1', blind: 'yes' },
      400,
      'invalid-request',
    ],
    ['a hold of an unknown call', `${callId}/hold`, { agentUri }, 404, 'call-not-found'],
    [
      'an agent of another tenant',
      `${callId}/hold`,
      { agentUri: 'sip:e2e-191@globex.example' },
      404,
      'agent-not-found',
    ],
    ['an agent who is a number', `${callId}/hold`, { agentUri: 4711 }, 400, 'invalid-request'],
    ['a line break in the destination', 'dial', { agentUri, destination: '1\r\nX: y' }, 400, 'invalid-request'],
  ])('%s', async (_name, path, body, status, code) => {
    expect(await desk.refused(path, body)).toMatchObject({ status, code })
  })
})
