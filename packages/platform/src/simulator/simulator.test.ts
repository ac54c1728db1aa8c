import { type CallId, CallState, CommandNumber, newCallId, newCommandId, Unavailable } from '@switchhook/contracts'
import { describePlatform } from '../conformance/describe-platform.ts'
import { createObserver, type Observer } from '../conformance/observer.ts'
import { PlatformUnavailable } from '../platform.ts'
import { VirtualStorage } from '../testing/virtual-storage.ts'
import { createSimulator, type Simulator } from './simulator.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const CAROL = 'sip:carol@acme.example'
const agents = [ALICE, BOB, CAROL].map((agentUri) => ({ agentUri, tenant: 'acme', device: 'SIM/1' }))

function open(storage: VirtualStorage, observer: Observer): Simulator {
  return createSimulator({
    agents,
    scenario: null,
    storage,
    liveCalls: async (_tenant, agentUri) => observer.liveCalls(agentUri),
    onError: () => {},
    now: () => storage.nowMs,
  })
}

describePlatform('simulator', async (observer) => {
  const storage = new VirtualStorage()
  let simulator = open(storage, observer)
  const agent = (agentUri: string) => {
    const found = simulator.findAnyAgent(agentUri)
    if (found === undefined) throw new Error(`${agentUri} is not provisioned`)
    return found
  }
  return {
    platform: simulator,
    tenant: 'acme',
    alice: ALICE,
    bob: BOB,
    carol: CAROL,
    addresses: { answers: '+15550100', busy: '+15550101', neverAnswers: '+15550102', bad: '+15550103' },
    until: async (condition) => {
      for (let passedMs = 0; !condition(); passedMs += 100) {
        if (passedMs > 120_000) throw new Error('the condition is not true after two minutes')
        await storage.advance(100, (timer) => simulator.due(timer))
      }
    },
    ring: async (agentUri) => {
      const callId = await simulator.ring(agent(agentUri), { from: '+15559000', ringForMs: null, talkForMs: null })
      if (callId === undefined) throw new Error('the device is not free')
      return callId
    },
    hangupRemotely: async (callId) => void (await simulator.remote(callId, 'hangup')),
    setDevice: (agentUri, online) => simulator.setDevice(agent(agentUri), online),
    cutOff: (isCut) => {
      storage.outage = isCut ? new Error('the storage is unavailable') : undefined
    },
    restart: async (next) => {
      simulator = open(storage, next)
      await simulator.start(next.listener)
      return simulator
    },
  }
})

test('ring rejects if it is unknown whether the call was stored', async () => {
  const storage = new VirtualStorage()
  const simulator = open(storage, createObserver())
  storage.write = async () => {
    storage.outage = new Error('the storage is unavailable')
    throw storage.outage
  }
  const ringing = simulator.ring(
    { agentUri: ALICE, tenant: 'acme', device: 'SIM/1' },
    { from: '+15559000', ringForMs: null, talkForMs: null },
  )
  await expect(ringing).rejects.toThrow('the storage is unavailable')
})

test('a step that was stored but not reported before its process died is reported by the next process', async () => {
  const storage = new VirtualStorage()
  const observer = createObserver()
  const dying = open(storage, observer)
  await dying.start({ legs: () => Promise.reject(new Error('dead')), device: () => Promise.reject(new Error('dead')) })
  const callId = newCallId()
  const command = { tenant: 'acme', callId, agentUri: ALICE, commandId: newCommandId() }
  await dying.dial({ ...command, destination: '+15550101', cli: null, correlationId: null })
  expect(observer.reports()).toEqual([])

  const successor = open(storage, observer)
  await successor.start(observer.listener)
  await storage.advance(1_000, (timer) => successor.due(timer))
  expect(observer.eventsOf(callId, ALICE).map(({ state }) => state)).toEqual([1, 7])
  observer.verify()
})

test('a second call is not answered if the first one cannot be held: no agent talks on two calls', async () => {
  const storage = new VirtualStorage()
  const observer = createObserver()
  const simulator = open(storage, observer)
  await simulator.start(observer.listener)
  const leg = (callId: CallId) => ({ tenant: 'acme', callId, agentUri: ALICE, commandId: newCommandId() })
  const first = newCallId()
  await simulator.dial({ ...leg(first), destination: '+15550104', cli: null, correlationId: null })
  await storage.advance(5_000, (timer) => simulator.due(timer))
  const alice = simulator.findAnyAgent(ALICE)
  const second = alice && (await simulator.ring(alice, { from: '+15559000', ringForMs: null, talkForMs: null }))
  if (second === undefined) throw new Error('the device is not free')
  const answer = { ...leg(second), holdFirst: [first] }
  await simulator.answer(answer)
  expect(observer.latest(first, ALICE)).toMatchObject({
    state: 3,
    commandResult: { command: CommandNumber.hold, result: 2 },
  })
  expect(observer.latest(second, ALICE)).toMatchObject({
    state: 2,
    commandResult: { commandId: answer.commandId, command: CommandNumber.answer, result: 2 },
  })
  observer.verify()
})

test('after the storage is restored to an older state, a new step with the same number is reported', async () => {
  const storage = new VirtualStorage()
  const states: number[] = []
  const simulator = open(storage, createObserver())
  await simulator.start({
    legs: async (reports) => void states.push(...reports.map(({ state }) => state)),
    device: async () => {},
  })
  const callId = newCallId()
  const leg = () => ({ tenant: 'acme', callId, agentUri: ALICE, commandId: newCommandId() })
  await simulator.dial({ ...leg(), destination: '+15550100', cli: null, correlationId: null })
  await storage.advance(2_000, (timer) => simulator.due(timer))
  expect(states).toEqual([1, 8, 3])

  const restore = storage.backUp()
  await simulator.hold(leg())
  restore()
  storage.nowMs += 1_000
  await simulator.hangup(leg())
  // The restored step is reported again before the new one.
  expect(states).toEqual([1, 8, 3, 4, 3, 7])
})

describe('a write to the storage that fails', () => {
  async function connectedCall() {
    const storage = new VirtualStorage()
    const observer = createObserver()
    const simulator = open(storage, observer)
    await simulator.start(observer.listener)
    const callId = newCallId()
    const leg = () => ({ tenant: 'acme', callId, agentUri: ALICE, commandId: newCommandId() })
    await simulator.dial({ ...leg(), destination: '+15550100', cli: null, correlationId: null })
    await storage.advance(2_000, (timer) => simulator.due(timer))
    return { storage, observer, simulator, callId, leg }
  }
  const failWith = (storage: VirtualStorage, error: Error) => {
    storage.write = () => Promise.reject(error)
  }

  test('rejects the command if it certainly stored nothing', async () => {
    const { storage, observer, simulator, callId, leg } = await connectedCall()
    failWith(storage, new Unavailable('redis', 'out of memory', { fate: 'not-executed' }))
    await expect(simulator.hold(leg())).rejects.toBeInstanceOf(PlatformUnavailable)
    expect(observer.latest(callId, ALICE)?.state).toBe(CallState.connected)
  })

  test('leaves the command accepted if its result is unknown', async () => {
    const { storage, simulator, leg } = await connectedCall()
    failWith(storage, new Unavailable('redis', 'timed out'))
    await expect(simulator.hold(leg())).resolves.toBeUndefined()
  })

  test('makes the timer repeat if it certainly stored nothing', async () => {
    const { storage, simulator } = await connectedCall()
    failWith(storage, new Unavailable('redis', 'out of memory', { fate: 'not-executed' }))
    // Long enough for the outside party to hang up.
    await expect(storage.advance(3_600_000, (timer) => simulator.due(timer))).rejects.toBeInstanceOf(
      PlatformUnavailable,
    )
  })
})
