import { type CallId, CallState, EndReason, newCallId, newCommandId } from '@switchhook/contracts'
import { createObserver, type Observer } from '../conformance/observer.ts'
import { ALICE, BOB, CAROL, openSimulator } from '../testing/open-simulator.ts'
import { VirtualStorage } from '../testing/virtual-storage.ts'
import type { Simulator } from './simulator.ts'

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

async function customerCall(): Promise<CallId> {
  const alice = simulator.findAnyAgent(ALICE)
  const callId = alice && (await simulator.ring(alice, { from: '+15559000', ringForMs: null, talkForMs: null }))
  if (callId === undefined) throw new Error('the device is not free')
  await simulator.answer({ ...leg(callId), holdFirst: [] })
  return callId
}

test('a timer of a cancelled transfer does not answer for the target of the next one', async () => {
  const callId = await customerCall()
  await transfer(callId, '+15550119')
  await pass(2_000)
  await simulator.resume({ ...leg(callId), holdFirst: [] })
  await transfer(callId, BOB)
  await pass(10_000)
  expect(stateOf(callId, BOB)).toBe(alerting)
})

test('a timer that a process of the previous version has set acts on a transfer', async () => {
  const callId = await customerCall()
  const write = storage.write.bind(storage)
  // The previous version sets timers without `begunAt`.
  const withoutBegunAt = (key: string, value: unknown): unknown => (key === 'begunAt' ? undefined : value)
  storage.write = (tenant, { records, timers }) =>
    write(tenant, { records, timers: JSON.parse(JSON.stringify(timers), withoutBegunAt) })
  await transfer(callId, '+15550111')
  await pass(2_000)
  expect(observer.latest(callId, ALICE)).toMatchObject({ state: ended, endReason: EndReason.transferred })
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
  const answer = { ...leg(consultation, BOB), holdFirst: [callId] }
  await simulator.answer(answer)
  expect([stateOf(callId, BOB), stateOf(consultation, BOB)]).toEqual([held, connected])
  // Both events name the command that caused them.
  expect(observer.latest(callId, BOB)?.commandId).toBe(answer.commandId)

  await simulator.hold(leg(consultation, BOB))
  await simulator.resume({ ...leg(callId, BOB), holdFirst: [] })
  await simulator.answer(answer)
  expect([stateOf(callId, BOB), stateOf(consultation, BOB)]).toEqual([connected, held])
})
