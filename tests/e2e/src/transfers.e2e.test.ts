import { type Accepted, type Desk, openDesk, remotely, ring, states } from './desk.ts'

/** Each test uses its own agents. */
let number = 75
const anAgent = (): string => `sip:e2e-${number++}@acme.example`

const NEVER_ANSWERS = '+15550102'
const ANSWERS = '+15550100'

let desk: Desk

beforeAll(async () => {
  desk = await openDesk()
})

afterAll(() => desk.close())

const inState = (state: number) => (latest: { state: number }) => latest.state === state

/** A customer has called, and the agent has answered. */
async function talking(agentUri: string): Promise<string> {
  const callId = await ring(agentUri, '+15559100', { talkForSeconds: 60 })
  await desk.command(`${callId}/answer`, { agentUri })
  await desk.until(callId, agentUri, inState(3))
  return callId
}

const transfer = (callId: string, agentUri: string, transferTarget: string, more: object = {}): Promise<Accepted> =>
  desk.command(`${callId}/transfer`, { agentUri, transferTarget, ...more })

const hangup = (callId: string, agentUri: string) => desk.command(`${callId}/hangup`, { agentUri })

describe('a blind transfer', () => {
  test('holds the call, rings the target, and ends the leg with reason 9 when the target answers', async () => {
    const [agentUri, target] = [anAgent(), anAgent()]
    const callId = await talking(agentUri)
    const accepted = await transfer(callId, agentUri, target, { blind: true })
    expect(accepted).not.toHaveProperty('consultationCallId')
    const ringing = await desk.until(callId, target, inState(2))
    expect(ringing).toMatchObject({ sequence: 1, role: 4, transfer: { blind: true, role: 3 } })
    expect(ringing.remoteParty).toMatchObject({ number: '+15559100' })
    expect(await desk.until(callId, agentUri, ({ transfer: t }) => t?.status === 2)).toMatchObject({ state: 4 })

    await desk.command(`${callId}/answer`, { agentUri: target })
    expect(await desk.until(callId, agentUri, inState(7))).toMatchObject({
      endReason: 9,
      transfer: { blind: true, target, role: 1, status: 3 },
    })
    expect(await desk.until(callId, target, inState(3))).toMatchObject({ transfer: { role: 3, status: 3 } })
    expect(states(desk.leg(callId, agentUri))).toEqual([2, 3, 4, 4, 7])
    await hangup(callId, target)
  })

  test('that is declined returns to the agent', async () => {
    const [agentUri, target] = [anAgent(), anAgent()]
    const callId = await talking(agentUri)
    await transfer(callId, agentUri, target, { blind: true })
    await desk.until(callId, target, inState(2))
    await hangup(callId, target)
    expect(await desk.until(callId, agentUri, ({ transfer: t }) => t?.status === 4)).toMatchObject({
      state: 3,
      transfer: { failReason: 6 },
    })
    await hangup(callId, agentUri)
  })
})

describe('an attended transfer', () => {
  test('holds the call, consults, and hands the customer over on the second request', async () => {
    const [agentUri, target] = [anAgent(), anAgent()]
    const callId = await talking(agentUri)
    const { consultationCallId: consultation = '' } = await transfer(callId, agentUri, target, {
      correlationId: 'crm-3',
    })
    expect(await desk.until(callId, agentUri, inState(4))).toMatchObject({
      consultation: { callId: consultation, target },
      transfer: { blind: false, role: 1, otherCallId: consultation },
    })
    expect(await desk.until(consultation, target, inState(2))).toMatchObject({ role: 3, correlationId: 'crm-3' })
    await desk.command(`${consultation}/answer`, { agentUri: target })
    expect(await desk.until(consultation, agentUri, inState(3))).toMatchObject({
      consultation: { forCallId: callId },
      correlationId: 'crm-3',
    })

    const completed = await transfer(callId, agentUri, target)
    expect(completed).toMatchObject({ consultationCallId: consultation, noop: false })
    expect(await desk.until(callId, agentUri, inState(7))).toMatchObject({ endReason: 9, transfer: { status: 3 } })
    expect(await desk.until(consultation, agentUri, inState(7))).toMatchObject({ endReason: 9 })
    expect(await desk.until(consultation, target, inState(7))).toMatchObject({ endReason: 9 })
    const took = await desk.until(callId, target, inState(3))
    expect(took).toMatchObject({ sequence: 1, role: 4, remoteParty: { number: '+15559100' } })
    expect(states(desk.leg(consultation, agentUri))).toEqual([1, 8, 3, 7])

    await remotely(callId, 'hangup')
    expect(await desk.until(callId, target, inState(7))).toMatchObject({ endReason: 1, endedBy: 2 })
  })

  test('completed while the target still rings keeps the customer until the target answers', async () => {
    const [agentUri, target] = [anAgent(), anAgent()]
    const callId = await talking(agentUri)
    const { consultationCallId: consultation = '' } = await transfer(callId, agentUri, target)
    await desk.until(consultation, target, inState(2))
    await transfer(callId, agentUri, target)
    expect(await desk.until(callId, target, inState(2))).toMatchObject({ role: 4 })
    expect(desk.leg(callId, agentUri).at(-1)?.state).toBe(4)
    await desk.command(`${callId}/answer`, { agentUri: target })
    expect(await desk.until(callId, agentUri, inState(7))).toMatchObject({ endReason: 9 })
    await hangup(callId, target)
  })

  test('to another target is refused in the meantime', async () => {
    const agentUri = anAgent()
    const callId = await talking(agentUri)
    await transfer(callId, agentUri, NEVER_ANSWERS)
    const second = await desk.refused(`${callId}/transfer`, { agentUri, transferTarget: ANSWERS })
    expect(second).toMatchObject({ status: 409, code: 'transfer-in-progress' })
    await desk.command(`${callId}/resume`, { agentUri })
    await desk.until(callId, agentUri, inState(3))
    await hangup(callId, agentUri)
  })
})
