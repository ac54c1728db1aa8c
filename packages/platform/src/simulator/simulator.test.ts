import { type CallId, CallState, CommandNumber, newCallId, newCommandId, Unavailable } from '@switchhook/contracts'
import { describePlatform } from '../conformance/describe-platform.ts'
import { createObserver, type Observer } from '../conformance/observer.ts'
import { PlatformUnavailable } from '../platform.ts'
import { VirtualMemory } from '../testing/virtual-storage.ts'
import { createSimulator, type Simulator } from './simulator.ts'

const ALICE = 'sip:alice@acme.example'
const BOB = 'sip:bob@acme.example'
const CAROL = 'sip:carol@acme.example'
const agents = [ALICE, BOB, CAROL].map((agentUri) => ({ agentUri, tenant: 'acme', device: 'SIM/1' }))

function open(memory: VirtualMemory, observer: Observer): Simulator {
  return createSimulator({
    agents,
    scenario: null,
    memory,
    liveCalls: async (_tenant, agentUri) => observer.liveCalls(agentUri),
    onError: () => {},
    now: () => memory.nowMs,
  })
}

describePlatform('simulator', async (observer) => {
  const memory = new VirtualMemory()
  let simulator = open(memory, observer)
  const agent = (agentUri: string) => {
    const found = simulator.findAnyAgent(agentUri)
    if (found === undefined) throw new Error(`${agentUri} is provisioned`)
    return found
  }
  return {
    platform: simulator,
    tenant: 'acme',
    alice: ALICE,
    bob: BOB,
    carol: CAROL,
    addresses: { answers: '+15550100', busy: '+15550101', neverAnswers: '+15550102', bad: '+15550103' },
    until: async (isSo) => {
      for (let passedMs = 0; !isSo(); passedMs += 100) {
        if (passedMs > 120_000) throw new Error('it does not come to be so')
        await memory.pass(100, (timer) => simulator.due(timer))
      }
    },
    ring: async (agentUri) => {
      const callId = await simulator.ring(agent(agentUri), { from: '+15559000', ringForMs: null, talkForMs: null })
      if (callId === undefined) throw new Error('the device takes no call')
      return callId
    },
    hangupRemotely: async (callId) => void (await simulator.remote(callId, 'hangup')),
    setDevice: (agentUri, online) => simulator.setDevice(agent(agentUri), online),
    cutOff: (isCut) => {
      memory.outage = isCut ? new Error('the memory is away') : undefined
    },
    restart: async (told) => {
      simulator = open(memory, told)
      await simulator.start(told.listener)
      return simulator
    },
  }
})

test('a call from outside is not promised when nobody knows whether it was stored', async () => {
  const memory = new VirtualMemory()
  const simulator = open(memory, createObserver())
  memory.write = async () => {
    memory.outage = new Error('the memory is away')
    throw memory.outage
  }
  const ringing = simulator.ring(
    { agentUri: ALICE, tenant: 'acme', device: 'SIM/1' },
    { from: '+15559000', ringForMs: null, talkForMs: null },
  )
  await expect(ringing).rejects.toThrow('the memory is away')
})

test('a step that was stored and not told, as its process died, is told by whoever comes next', async () => {
  const memory = new VirtualMemory()
  const observer = createObserver()
  const dying = open(memory, observer)
  await dying.start({ legs: () => Promise.reject(new Error('dead')), device: () => Promise.reject(new Error('dead')) })
  const callId = newCallId()
  const command = { tenant: 'acme', callId, agentUri: ALICE, commandId: newCommandId() }
  await dying.dial({ ...command, destination: '+15550101', cli: null, correlationId: null })
  expect(observer.reports()).toEqual([])

  const heir = open(memory, observer)
  await heir.start(observer.listener)
  await memory.pass(1_000, (timer) => heir.due(timer))
  expect(observer.eventsOf(callId, ALICE).map(({ state }) => state)).toEqual([1, 7])
  observer.verify()
})

test('a second call is not answered while the first one cannot be held: nobody talks on two calls', async () => {
  const memory = new VirtualMemory()
  const observer = createObserver()
  const simulator = open(memory, observer)
  await simulator.start(observer.listener)
  const leg = (callId: CallId) => ({ tenant: 'acme', callId, agentUri: ALICE, commandId: newCommandId() })
  const first = newCallId()
  await simulator.dial({ ...leg(first), destination: '+15550104', cli: null, correlationId: null })
  await memory.pass(5_000, (timer) => simulator.due(timer))
  const alice = simulator.findAnyAgent(ALICE)
  const second = alice && (await simulator.ring(alice, { from: '+15559000', ringForMs: null, talkForMs: null }))
  if (second === undefined) throw new Error('alice takes one more call')
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

test('after the memory went back to an older state, a new step with the same number is reported', async () => {
  const memory = new VirtualMemory()
  const states: number[] = []
  const simulator = open(memory, createObserver())
  await simulator.start({
    legs: async (reports) => void states.push(...reports.map(({ state }) => state)),
    device: async () => {},
  })
  const callId = newCallId()
  const leg = () => ({ tenant: 'acme', callId, agentUri: ALICE, commandId: newCommandId() })
  await simulator.dial({ ...leg(), destination: '+15550100', cli: null, correlationId: null })
  await memory.pass(2_000, (timer) => simulator.due(timer))
  expect(states).toEqual([1, 8, 3])

  const restore = memory.backUp()
  await simulator.hold(leg())
  restore()
  memory.nowMs += 1_000
  await simulator.hangup(leg())
  // The loaded step is reported again before the new one.
  expect(states).toEqual([1, 8, 3, 4, 3, 7])
})

describe('a write of the memory that fails', () => {
  async function aConnectedCall() {
    const memory = new VirtualMemory()
    const observer = createObserver()
    const simulator = open(memory, observer)
    await simulator.start(observer.listener)
    const callId = newCallId()
    const leg = () => ({ tenant: 'acme', callId, agentUri: ALICE, commandId: newCommandId() })
    await simulator.dial({ ...leg(), destination: '+15550100', cli: null, correlationId: null })
    await memory.pass(2_000, (timer) => simulator.due(timer))
    return { memory, observer, simulator, callId, leg }
  }
  const failWith = (memory: VirtualMemory, error: Error) => {
    memory.write = () => Promise.reject(error)
  }

  test('refuses the command if it certainly stored nothing', async () => {
    const { memory, observer, simulator, callId, leg } = await aConnectedCall()
    failWith(memory, new Unavailable('redis', 'out of memory', { fate: 'not-executed' }))
    await expect(simulator.hold(leg())).rejects.toBeInstanceOf(PlatformUnavailable)
    expect(observer.latest(callId, ALICE)?.state).toBe(CallState.connected)
  })

  test('leaves the command accepted if its answer was lost', async () => {
    const { memory, simulator, leg } = await aConnectedCall()
    failWith(memory, new Unavailable('redis', 'timed out'))
    await expect(simulator.hold(leg())).resolves.toBeUndefined()
  })

  test('makes a timer come again if it certainly stored nothing', async () => {
    const { memory, simulator } = await aConnectedCall()
    failWith(memory, new Unavailable('redis', 'out of memory', { fate: 'not-executed' }))
    // The call lasts until its outside party hangs up.
    await expect(memory.pass(3_600_000, (timer) => simulator.due(timer))).rejects.toBeInstanceOf(PlatformUnavailable)
  })
})
