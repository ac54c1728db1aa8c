import { CallState, CommandNumber, newCallId } from '@switchhook/contracts'
import type { Harness } from './harness.ts'
import type { Stage } from './stage.ts'

const { initiated, alerting, proceeding, connected, held, ended } = CallState

/** The six commands without transfers, agents and devices. */
export function describeCalls(stage: Stage): void {
  test('an outbound call rings, is answered, held, resumed and hung up', async () => {
    const callId = await stage.dial(stage.on.addresses.answers)
    await stage.inState(callId, connected)
    await stage.platform.hold(stage.leg(callId))
    await stage.inState(callId, held)
    await stage.platform.resume(stage.talk(callId))
    await stage.inState(callId, connected)
    const hangup = stage.leg(callId)
    await stage.platform.hangup(hangup)
    expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 1, commandId: hangup.commandId })
    expect(stage.states(callId)).toEqual([initiated, proceeding, connected, held, connected, ended])
    expect(stage.observer.latest(callId, stage.on.alice)).toMatchObject({
      cli: '+15550199',
      correlationId: 'crm-1',
      direction: 2,
    })
  })

  test.each<[keyof Harness['addresses'], number]>([
    ['busy', 2],
    ['bad', 3],
    ['neverAnswers', 4],
  ])('a call to an address that is %s ends with reason %i', async (address, endReason) => {
    const callId = await stage.dial(stage.on.addresses[address])
    expect(await stage.inState(callId, ended)).toMatchObject({ endReason, answeredAt: null })
  })

  test('an inbound call is answered, and ends when the caller hangs up', async () => {
    const callId = await stage.customer()
    await stage.on.hangupRemotely(callId)
    expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2, direction: 1 })
    expect(stage.states(callId)).toEqual([alerting, connected, ended])
  })

  test('a call that is declined was rejected, one that is hung up before the answer cancelled', async () => {
    const declined = await stage.on.ring(stage.on.alice)
    await stage.inState(declined, alerting)
    await stage.platform.hangup(stage.leg(declined))
    expect(await stage.inState(declined, ended)).toMatchObject({ endReason: 6, endedBy: 1 })
    const cancelled = await stage.dial(stage.on.addresses.neverAnswers)
    await stage.inState(cancelled, proceeding)
    await stage.platform.hangup(stage.leg(cancelled))
    expect(await stage.inState(cancelled, ended)).toMatchObject({ endReason: 5, endedBy: 1 })
  })

  test('a call between agents has two legs that tell of each other', async () => {
    const callId = await stage.dial(stage.on.bob)
    expect(await stage.inState(callId, alerting, stage.on.bob)).toMatchObject({
      internal: true,
      remoteParty: { uri: stage.on.alice },
    })
    await stage.platform.answer(stage.talk(callId, stage.on.bob))
    await stage.inState(callId, connected)
    await stage.platform.hold(stage.leg(callId))
    await stage.on.until(() => stage.observer.latest(callId, stage.on.bob)?.remoteHeld === true)
    await stage.platform.hangup(stage.leg(callId, stage.on.bob))
    expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
    expect(await stage.inState(callId, ended, stage.on.bob)).toMatchObject({ endReason: 1, endedBy: 1 })
  })

  test('answering a second call holds the first one before', async () => {
    const first = await stage.customer()
    const second = await stage.on.ring(stage.on.alice)
    await stage.inState(second, alerting)
    await stage.platform.answer(stage.talk(second, stage.on.alice, [first]))
    await stage.inState(second, connected)
    await stage.inState(first, held)
    const order = stage.observer.reports().filter(({ state }) => state === held || state === connected)
    expect(order.slice(-2).map(({ callId }) => callId)).toEqual([first, second])
  })

  test('the same callId dialled twice is one call, and the same command given twice does no more', async () => {
    const callId = await stage.dial(stage.on.addresses.answers)
    await stage.dial(stage.on.addresses.answers, stage.on.alice, callId)
    await stage.inState(callId, connected)
    const hold = stage.leg(callId)
    await stage.platform.hold(hold)
    await stage.platform.resume(stage.talk(callId))
    await stage.platform.hold(hold)
    await stage.inState(callId, connected)
    expect(stage.states(callId)).toEqual([initiated, proceeding, connected, held, connected])
  })

  test('commands on a leg that has ended do nothing', async () => {
    const callId = await stage.dial(stage.on.addresses.busy)
    await stage.inState(callId, ended)
    await stage.platform.hangup(stage.leg(callId))
    await stage.platform.hold(stage.leg(callId))
    await stage.platform.answer(stage.talk(callId))
    expect(stage.states(callId)).toEqual([initiated, ended])
  })

  test('a command that does not fit any more is told to have come to nothing', async () => {
    const callId = await stage.dial(stage.on.addresses.neverAnswers)
    await stage.inState(callId, proceeding)
    const hold = stage.leg(callId)
    await stage.platform.hold(hold)
    await stage.on.until(() => stage.observer.latest(callId, stage.on.alice)?.commandResult !== null)
    expect(stage.observer.latest(callId, stage.on.alice)).toMatchObject({
      state: proceeding,
      commandResult: { commandId: hold.commandId, command: CommandNumber.hold, result: 2 },
    })
  })

  test('looking a call up says what was told', async () => {
    const callId = await stage.dial(stage.on.bob)
    await stage.inState(callId, alerting, stage.on.bob)
    const found = await stage.platform.lookUp(stage.on.tenant, callId)
    expect(new Map(found.map(({ agentUri, state }) => [agentUri, state]))).toEqual(
      new Map([
        [stage.on.alice, proceeding],
        [stage.on.bob, alerting],
      ]),
    )
    expect(await stage.platform.lookUp(stage.on.tenant, newCallId())).toEqual([])
  })

  test('agents exist for their tenant alone', async () => {
    expect(await stage.platform.findAgent(stage.on.tenant, stage.on.alice)).toMatchObject({
      agentUri: stage.on.alice,
      tenant: stage.on.tenant,
    })
    expect(await stage.platform.findAgent(stage.on.tenant, 'sip:nobody@nowhere.example')).toBeUndefined()
    expect(await stage.platform.findAgent('another tenant', stage.on.alice)).toBeUndefined()
  })

  test('a device that goes away ends its calls, and is told to be away and back', async () => {
    const callId = await stage.customer()
    await stage.on.setDevice(stage.on.alice, false)
    expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 10 })
    await stage.on.setDevice(stage.on.alice, true)
    const told = () => stage.observer.devices().filter(({ agentUri }) => agentUri === stage.on.alice)
    await stage.on.until(() => told().length >= 2)
    expect(told().map(({ online }) => online)).toEqual([false, true])
  })
}
