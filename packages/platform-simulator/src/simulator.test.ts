import { createObserver, describePlatform, VirtualStorage } from '@switchhook/conformance'
import { type CallId, CallState, CommandNumber, newCallId, newCommandId, Unavailable } from '@switchhook/contracts'
import { PlatformUnavailable } from '@switchhook/platform'
import { ALICE, BOB, CAROL, openSimulator } from './testing/open-simulator.ts'

test('the development endpoints find an agent by every spelling of its URI', () => {
  const simulator = openSimulator(new VirtualStorage(), createObserver())
  for (const tenant of [undefined, 'acme']) {
    expect(simulator.findAnyAgent('SIP:alice@ACME.example', tenant)).toMatchObject({ agentUri: ALICE })
  }
})

describePlatform('simulator', async (observer) => {
  const storage = new VirtualStorage()
  let simulator = openSimulator(storage, observer)
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
    holdRemotely: async (callId, isHeld) => void (await simulator.remote(callId, isHeld ? 'hold' : 'resume')),
    setDevice: (agentUri, online) => simulator.setDevice(agent(agentUri), online),
    cutOff: (isCut) => {
      storage.outage = isCut ? new Error('the storage is unavailable') : undefined
    },
    restart: async (next) => {
      simulator = openSimulator(storage, next)
      await simulator.start(next.listener)
      return simulator
    },
  }
})

test('ring rejects if it is unknown whether the call was stored', async () => {
  const storage = new VirtualStorage()
  const simulator = openSimulator(storage, createObserver())
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
  const dying = openSimulator(storage, observer)
  await dying.start({ legs: () => Promise.reject(new Error('dead')), device: () => Promise.reject(new Error('dead')) })
  const callId = newCallId()
  const command = { tenant: 'acme', callId, agentUri: ALICE, commandId: newCommandId() }
  await dying.dial({ ...command, destination: '+15550101', cli: null, correlationId: null })
  expect(observer.reports()).toEqual([])

  const successor = openSimulator(storage, observer)
  await successor.start(observer.listener)
  await storage.advance(1_000, (timer) => successor.due(timer))
  expect(observer.eventsOf(callId, ALICE).map(({ state }) => state)).toEqual([1, 7])
  observer.verify()
})

test('a second call is not answered if the first one cannot be held: no agent talks on two calls', async () => {
  const storage = new VirtualStorage()
  const observer = createObserver()
  const simulator = openSimulator(storage, observer)
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
  const simulator = openSimulator(storage, createObserver())
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
    const simulator = openSimulator(storage, observer)
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

  /** The next write is executed or not, and its answer is lost. */
  const loseAnswer = (storage: VirtualStorage, isExecuted: boolean, after = () => {}) => {
    storage.write = async (...change) => {
      Reflect.deleteProperty(storage, 'write')
      if (isExecuted) await storage.write(...change)
      after()
      throw new Unavailable('redis', 'timed out')
    }
  }

  test.each([true, false])(
    'leaves the command open if its result is unknown; a repeat is carried out once (%s)',
    async (isExecuted) => {
      const { storage, observer, simulator, callId, leg } = await connectedCall()
      const hold = leg()
      loseAnswer(storage, isExecuted)
      await expect(simulator.hold(hold)).rejects.toBeInstanceOf(Unavailable)
      await simulator.hold(hold)
      expect(observer.eventsOf(callId, ALICE).map(({ state }) => state)).toEqual([1, 8, 3, 4])
      observer.verify()
    },
  )

  test.each([
    ['not executed', new Unavailable('redis', 'out of memory', { fate: 'not-executed' }), PlatformUnavailable],
    ['perhaps executed', new Unavailable('redis', 'timed out'), Unavailable],
  ])('makes the timer repeat if it was %s', async (_fate, error, expected) => {
    const { storage, simulator } = await connectedCall()
    failWith(storage, error)
    // Long enough for the outside party to hang up.
    await expect(storage.advance(3_600_000, (timer) => simulator.due(timer))).rejects.toBeInstanceOf(expected)
  })

  test('accepts no dial while it is unknown whether the call was stored', async () => {
    const { storage, observer, simulator, leg } = await connectedCall()
    const dial = { ...leg(), callId: newCallId(), destination: '+15550101', cli: null, correlationId: null }
    loseAnswer(storage, false, () => (storage.outage = new Error('the storage is unavailable')))
    await expect(simulator.dial(dial)).rejects.toBeInstanceOf(Unavailable)
    storage.outage = undefined
    loseAnswer(storage, false)
    await expect(simulator.dial(dial)).rejects.toBeInstanceOf(PlatformUnavailable)
    loseAnswer(storage, true)
    await simulator.dial(dial)
    await storage.advance(1_000, (timer) => simulator.due(timer))
    expect(observer.eventsOf(dial.callId, ALICE).map(({ state }) => state)).toEqual([1, 7])
  })
})

test('a live call does not expire, and an ended one does', async () => {
  const kept: number[] = []
  const storage = new (class extends VirtualStorage {
    override write(...[tenant, change]: Parameters<VirtualStorage['write']>) {
      kept.push(...change.records.map(({ ttlMs }) => ttlMs))
      return super.write(tenant, change)
    }
  })()
  const simulator = openSimulator(storage, createObserver())
  const callId = newCallId()
  const leg = { tenant: 'acme', callId, agentUri: ALICE, commandId: newCommandId() }
  await simulator.dial({ ...leg, destination: BOB, cli: null, correlationId: null })
  expect(kept.splice(0)).toEqual([0])
  await simulator.hangup({ ...leg, commandId: newCommandId() })
  expect(kept).toEqual([15 * 60_000])
})
