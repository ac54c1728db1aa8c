import { createObserver, type Observer, VirtualStorage } from '@switchhook/conformance'
import { type CallId, CallState, CommandNumber, EndReason, newCallId, newCommandId } from '@switchhook/contracts'
import type { Simulator } from './simulator.ts'
import { ALICE, BOB, CAROL, openSimulator } from './testing/open-simulator.ts'

const { alerting, connected, held, ended } = CallState

let storage: VirtualStorage
let observer: Observer
let simulator: Simulator
beforeEach(async () => {
  storage = new VirtualStorage()
  observer = createObserver()
  simulator = openSimulator(storage, observer)
  await simulator.start(observer.listener)
})
afterEach(async () => {
  await simulator.stop()
  observer.verify()
})

const leg = (callId: CallId, agentUri = ALICE) => ({ tenant: 'acme', callId, agentUri, commandId: newCommandId() })
const pass = (ms: number) => storage.advance(ms, (timer) => simulator.due(timer))
const stateOf = (callId: CallId, agentUri = ALICE) => observer.latest(callId, agentUri)?.state

const transfer = (callId: CallId, target: string, by = ALICE, consultationCallId: CallId | null = null) =>
  simulator.transfer({ ...leg(callId, by), target, correlationId: null, consultationCallId })

async function ring(): Promise<CallId> {
  const alice = simulator.findAnyAgent(ALICE)
  const callId = alice && (await simulator.ring(alice, { from: '+15559000', ringForMs: null, talkForMs: null }))
  if (callId === undefined) throw new Error('the device is not free')
  return callId
}

const answer = (callId: CallId, agentUri = ALICE) => simulator.answer({ ...leg(callId, agentUri), holdFirst: [] })

async function customerCall(): Promise<CallId> {
  const callId = await ring()
  await answer(callId)
  return callId
}

/** A customer's call that alice transfers to bob, whom she has consulted: its id and that of the consultation. */
async function consulting(): Promise<readonly [CallId, CallId]> {
  const [callId, consultation] = [await customerCall(), newCallId()]
  await transfer(callId, BOB, ALICE, consultation)
  await pass(1_000)
  await answer(consultation, BOB)
  return [callId, consultation]
}

const complete = (callId: CallId, correlationId: string | null = null) =>
  simulator.completeTransfer({ ...leg(callId), correlationId })

test('a timer of a cancelled transfer does not answer for the target of the next one', async () => {
  const callId = await customerCall()
  await transfer(callId, '+15550119')
  await pass(2_000)
  await simulator.resume({ ...leg(callId), holdFirst: [] })
  await transfer(callId, BOB)
  await pass(10_000)
  expect(stateOf(callId, BOB)).toBe(alerting)
})

test("a target whose device goes offline while it rings ends with that reason, and the agent's leg tells it", async () => {
  const callId = await customerCall()
  await transfer(callId, BOB)
  await pass(1_000)
  const bob = simulator.findAnyAgent(BOB)
  if (bob !== undefined) await simulator.setDevice(bob, false)
  expect(observer.latest(callId, BOB)).toMatchObject({ state: ended, endReason: EndReason.deviceUnavailable })
  expect(observer.latest(callId, ALICE)?.transfer).toMatchObject({ failReason: EndReason.deviceUnavailable })
})

test('the same transfer by two clients at the same time is reported as done to the second one', async () => {
  const callId = await customerCall()
  await transfer(callId, BOB)
  await transfer(callId, BOB)
  expect(observer.latest(callId, ALICE)?.commandResult).toMatchObject({ command: CommandNumber.transfer, result: 1 })
  await transfer(callId, CAROL)
  expect(observer.latest(callId, ALICE)?.commandResult).toMatchObject({ command: CommandNumber.transfer, result: 2 })
})

test('the completion of a transfer by two clients while the target rings is reported as done to the second one', async () => {
  const callId = await customerCall()
  await transfer(callId, BOB, ALICE, newCallId())
  await pass(1_000)
  await complete(callId)
  await complete(callId)
  expect(observer.latest(callId, ALICE)?.commandResult).toMatchObject({ command: CommandNumber.transfer, result: 1 })
  expect(stateOf(callId, BOB)).toBe(alerting)
})

test('a customer who holds the call while the target rings does not hold the target', async () => {
  const callId = await customerCall()
  await transfer(callId, BOB)
  await pass(1_000)
  await simulator.remote(callId, 'hold')
  const isHeld = [ALICE, BOB].map((agentUri) => observer.latest(callId, agentUri)?.remoteHeld)
  expect(isHeld).toEqual([true, false])
})

test('an agent who is called in a call of the same group can answer: the other call is held first', async () => {
  const callId = newCallId()
  await simulator.dial({ ...leg(callId), destination: BOB, cli: null, correlationId: null })
  await pass(1_000)
  await simulator.answer({ ...leg(callId, BOB), holdFirst: [] })
  const consultation = newCallId()
  await transfer(callId, CAROL, ALICE, consultation)
  await pass(1_000)
  await simulator.answer({ ...leg(consultation, CAROL), holdFirst: [] })
  await transfer(consultation, BOB, CAROL)
  await pass(1_000)
  expect(stateOf(consultation, BOB)).toBe(alerting)
  const answering = { ...leg(consultation, BOB), holdFirst: [callId] }
  await simulator.answer(answering)
  expect([stateOf(callId, BOB), stateOf(consultation, BOB)]).toEqual([held, connected])
  // Both events name the command that caused them.
  expect(observer.latest(callId, BOB)?.commandId).toBe(answering.commandId)

  await simulator.hold(leg(consultation, BOB))
  await simulator.resume({ ...leg(callId, BOB), holdFirst: [] })
  await simulator.answer(answering)
  expect([stateOf(callId, BOB), stateOf(consultation, BOB)]).toEqual([connected, held])
})

test('of two calls that an agent answers at the same time, exactly one stays connected', async () => {
  const calls = [await ring(), await ring()] as const
  await Promise.all(calls.map((callId) => answer(callId)))
  expect(new Set(calls.map((callId) => stateOf(callId)))).toEqual(new Set([connected, held]))
})

test('a dialled call that is answered while another one was resumed holds the other one', async () => {
  const [callId, dialled] = [await customerCall(), newCallId()]
  await simulator.hold(leg(callId))
  await Promise.all([
    simulator.dial({ ...leg(dialled), destination: '+15550100', cli: null, correlationId: null }),
    simulator.resume({ ...leg(callId), holdFirst: [] }),
  ])
  await pass(2_000)
  expect([stateOf(callId), stateOf(dialled)]).toEqual([held, connected])
})

test('the correlation id of a completed transfer is in the events that complete it', async () => {
  const [callId, consultation] = await consulting()
  await complete(callId, 'crm-2')
  const legs = [callId, consultation].flatMap((id) => [ALICE, BOB].map((agentUri) => observer.latest(id, agentUri)))
  expect(legs.map((one) => one?.correlationId)).toEqual(['crm-2', 'crm-2', 'crm-2', 'crm-2'])
})

test('the agent who consults cannot transfer the consultation', async () => {
  const [callId, consultation] = await consulting()
  await transfer(consultation, CAROL)
  expect(observer.latest(consultation, ALICE)).toMatchObject({ state: connected, commandResult: { result: 2 } })
  await complete(callId)
  expect(stateOf(callId, BOB)).toBe(connected)
})

describe('a target who transfers the consultation', () => {
  test('has left when the transfer is completed: the customer gets the new party', async () => {
    const [callId, consultation] = await consulting()
    await transfer(consultation, CAROL, BOB)
    await pass(1_000)
    await answer(consultation, CAROL)
    await complete(callId)
    expect(stateOf(callId, CAROL)).toBe(connected)
    expect(observer.liveCalls(BOB)).toEqual([])
  })

  test('gets the customer if the new party has not answered', async () => {
    const [callId, consultation] = await consulting()
    await transfer(consultation, CAROL, BOB)
    await pass(1_000)
    await complete(callId)
    expect(stateOf(callId, BOB)).toBe(connected)
    expect(observer.latest(consultation, CAROL)).toMatchObject({ state: ended, endReason: EndReason.cancelled })
  })

  test('and hangs up leaves the new party ringing for the customer', async () => {
    const [callId, consultation] = await consulting()
    await transfer(consultation, CAROL, BOB)
    await pass(1_000)
    await simulator.hangup(leg(consultation, BOB))
    await complete(callId)
    await pass(1_000)
    expect(observer.liveCalls(BOB)).toEqual([])
    expect(stateOf(callId, CAROL)).toBe(alerting)
    await answer(callId, CAROL)
    expect(stateOf(callId, CAROL)).toBe(connected)
    expect(observer.latest(callId, ALICE)).toMatchObject({ state: ended, endReason: EndReason.transferred })
  })

  test('to the customer ends the transfer: the customer is not connected to itself', async () => {
    const [callId, consultation] = [newCallId(), newCallId()]
    await simulator.dial({ ...leg(callId), destination: CAROL, cli: null, correlationId: null })
    await pass(1_000)
    await answer(callId, CAROL)
    await transfer(callId, BOB, ALICE, consultation)
    await pass(1_000)
    await answer(consultation, BOB)
    await transfer(consultation, CAROL, BOB)
    await pass(1_000)
    await simulator.answer({ ...leg(consultation, CAROL), holdFirst: [callId] })
    await complete(callId)
    expect(stateOf(consultation, CAROL)).toBe(ended)
    expect(observer.latest(callId, ALICE)).toMatchObject({ state: connected, transfer: { status: 5 } })
    expect(observer.latest(callId, CAROL)?.remoteParty.uri).toBe(ALICE)
  })
})
