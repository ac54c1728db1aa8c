import { CallState, CommandNumber, newCallId } from '@switchhook/contracts'
import type { Fixture } from './fixture.ts'
import type { Harness } from './harness.ts'

const { initiated, alerting, proceeding, connected, held, ended } = CallState

export function describeCalls(fixture: Fixture): void {
  test('an outbound call rings, is answered, held, resumed and hung up', async () => {
    const callId = await fixture.dial(fixture.harness.addresses.answers)
    await fixture.untilState(callId, connected)
    await fixture.platform.hold(fixture.leg(callId))
    await fixture.untilState(callId, held)
    await fixture.platform.resume(fixture.talk(callId))
    await fixture.untilState(callId, connected)
    const hangup = fixture.leg(callId)
    await fixture.platform.hangup(hangup)
    const end = await fixture.untilState(callId, ended)
    expect(end).toMatchObject({ endReason: 1, endedBy: 1, commandId: hangup.commandId })
    expect(end).toMatchObject({ cli: '+15550199', correlationId: 'crm-1', direction: 2 })
    expect(fixture.states(callId)).toEqual([initiated, proceeding, connected, held, connected, ended])
  })

  test.each<[keyof Harness['addresses'], number]>([
    ['busy', 2],
    ['bad', 3],
    ['neverAnswers', 4],
  ])('a call to the %s address ends with reason %i', async (address, endReason) => {
    const callId = await fixture.dial(fixture.harness.addresses[address])
    expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason, answeredAt: null })
  })

  test('an inbound call is answered, and ends when the caller hangs up', async () => {
    const callId = await fixture.customerCall()
    await fixture.harness.hangupRemotely(callId)
    expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2, direction: 1 })
    expect(fixture.states(callId)).toEqual([alerting, connected, ended])
  })

  test('a call that the agent declines ends as rejected, and a dialled call hung up before the answer ends as cancelled', async () => {
    const declined = await fixture.harness.ring(fixture.alice)
    await fixture.untilState(declined, alerting)
    await fixture.platform.hangup(fixture.leg(declined))
    expect(await fixture.untilState(declined, ended)).toMatchObject({ endReason: 6, endedBy: 1 })
    const cancelled = await fixture.dial(fixture.harness.addresses.neverAnswers)
    await fixture.untilState(cancelled, proceeding)
    await fixture.platform.hangup(fixture.leg(cancelled))
    expect(await fixture.untilState(cancelled, ended)).toMatchObject({ endReason: 5, endedBy: 1 })
  })

  test('a call between agents has two legs, each with the other agent as its remote party', async () => {
    const callId = await fixture.dial(fixture.bob)
    const bobsLeg = await fixture.untilState(callId, alerting, fixture.bob)
    expect(bobsLeg).toMatchObject({ internal: true, remoteParty: { uri: fixture.alice }, cli: null })
    expect(fixture.latest(callId)).toMatchObject({ cli: null })
    await fixture.platform.answer(fixture.talk(callId, fixture.bob))
    await fixture.untilState(callId, connected)
    await fixture.platform.hold(fixture.leg(callId))
    await fixture.harness.until(() => fixture.latest(callId, fixture.bob)?.remoteHeld === true)
    await fixture.platform.hangup(fixture.leg(callId, fixture.bob))
    expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
    expect(await fixture.untilState(callId, ended, fixture.bob)).toMatchObject({ endReason: 1, endedBy: 1 })
  })

  test('a call to an agent whose phone is offline is a missed call of that agent', async () => {
    await fixture.harness.setDevice(fixture.bob, false)
    const callId = await fixture.dial(fixture.bob)
    expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason: 10 })
    expect(fixture.latest(callId, fixture.bob)).toMatchObject({
      endReason: 10,
      endedBy: 3,
      direction: 1,
      answeredAt: null,
      remoteParty: { uri: fixture.alice },
    })
    await fixture.harness.setDevice(fixture.bob, true)
  })

  test('the first call is held before the second one is answered', async () => {
    const first = await fixture.customerCall()
    const second = await fixture.harness.ring(fixture.alice)
    await fixture.untilState(second, alerting)
    await fixture.platform.answer(fixture.talk(second, fixture.alice, [first]))
    await fixture.untilState(second, connected)
    await fixture.untilState(first, held)
    const order = fixture.observer.reports().filter(({ state }) => state === held || state === connected)
    expect(order.slice(-2).map(({ callId }) => callId)).toEqual([first, second])
  })

  test('dialling a callId twice makes one call, and repeating a command has no effect', async () => {
    const callId = await fixture.dial(fixture.harness.addresses.answers)
    await fixture.dial(fixture.harness.addresses.answers, fixture.alice, callId)
    await fixture.untilState(callId, connected)
    const hold = fixture.leg(callId)
    await fixture.platform.hold(hold)
    await fixture.platform.resume(fixture.talk(callId))
    await fixture.platform.hold(hold)
    await fixture.untilState(callId, connected)
    expect(fixture.states(callId)).toEqual([initiated, proceeding, connected, held, connected])
  })

  test('commands on an ended leg have no effect', async () => {
    const callId = await fixture.dial(fixture.harness.addresses.busy)
    await fixture.untilState(callId, ended)
    await fixture.platform.hangup(fixture.leg(callId))
    await fixture.platform.hold(fixture.leg(callId))
    await fixture.platform.answer(fixture.talk(callId))
    expect(fixture.states(callId)).toEqual([initiated, ended])
  })

  test('a command that no longer fits the state of the leg is reported as failed', async () => {
    const callId = await fixture.dial(fixture.harness.addresses.neverAnswers)
    await fixture.untilState(callId, proceeding)
    const hold = fixture.leg(callId)
    await fixture.platform.hold(hold)
    await fixture.harness.until(() => fixture.latest(callId)?.commandResult !== null)
    expect(fixture.latest(callId)).toMatchObject({
      state: proceeding,
      commandResult: { commandId: hold.commandId, command: CommandNumber.hold, result: 2 },
    })
  })

  test('a command whose result another command has brought about is reported as done', async () => {
    const callId = await fixture.customerCall()
    const answer = fixture.talk(callId)
    await fixture.platform.answer(answer)
    await fixture.platform.hold(fixture.leg(callId))
    const hold = fixture.leg(callId)
    await fixture.platform.hold(hold)
    await fixture.platform.resume(fixture.talk(callId))
    const resume = fixture.talk(callId)
    await fixture.platform.resume(resume)
    const results = () =>
      fixture.observer.eventsOf(callId, fixture.alice).filter((event) => event.commandResult !== null)
    await fixture.harness.until(() => results().length >= 3)
    expect(results()).toMatchObject([
      { state: connected, commandResult: { commandId: answer.commandId, command: 2, result: 1, reason: 0 } },
      { state: held, commandResult: { commandId: hold.commandId, command: 4, result: 1, reason: 0 } },
      { state: connected, commandResult: { commandId: resume.commandId, command: 5, result: 1, reason: 0 } },
    ])
    await fixture.platform.resume(resume)
    expect(results()).toHaveLength(3)
  })

  test('lookUp returns the legs as reported, and none for an unknown call', async () => {
    const callId = await fixture.dial(fixture.bob)
    await fixture.untilState(callId, alerting, fixture.bob)
    const found = await fixture.platform.lookUp(fixture.harness.tenant, callId)
    const states = Object.fromEntries(found.map(({ agentUri, state }) => [agentUri, state]))
    expect(states).toEqual({ [fixture.alice]: proceeding, [fixture.bob]: alerting })
    expect(await fixture.platform.lookUp(fixture.harness.tenant, newCallId())).toEqual([])
  })

  test('a command on a call that the platform does not know resolves to false', async () => {
    expect(await fixture.platform.hangup(fixture.leg(newCallId()))).toBe(false)
    expect(await fixture.platform.hangup(fixture.leg(await fixture.dial(fixture.bob)))).toBe(true)
  })

  test('an agent is found in its own tenant only', async () => {
    const { platform, alice: agentUri } = fixture
    const { tenant } = fixture.harness
    expect(await platform.findAgent(tenant, agentUri)).toMatchObject({ agentUri, tenant })
    expect(await platform.findAgent(tenant, 'sip:nobody@nowhere.example')).toBeUndefined()
    expect(await platform.findAgent('another tenant', agentUri)).toBeUndefined()
  })

  test('the agents of a tenant are listed by URI, in pages', async () => {
    const { tenant, alice, bob, carol } = fixture.harness
    const inOrder = [alice, bob, carol].toSorted()
    const uris = async (page: { limit: number; after?: string }, of = tenant) =>
      (await fixture.platform.listAgents(of, page)).map(({ agentUri }) => agentUri)
    expect(await uris({ limit: 100 })).toEqual(inOrder)
    const [first = ''] = await uris({ limit: 1 })
    expect([first, ...(await uris({ limit: 2, after: first }))]).toEqual(inOrder)
    expect(await uris({ limit: 2, after: inOrder.at(-1) ?? '' })).toEqual([])
    expect(await uris({ limit: 100 }, 'another tenant')).toEqual([])
  })

  test('a device that goes offline ends its calls, and is reported offline and online again', async () => {
    const callId = await fixture.customerCall()
    await fixture.harness.setDevice(fixture.alice, false)
    expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason: 10 })
    await fixture.harness.setDevice(fixture.alice, true)
    const reported = () => fixture.observer.devices().filter(({ agentUri }) => agentUri === fixture.alice)
    await fixture.harness.until(() => reported().length >= 2)
    expect(reported().map(({ online }) => online)).toEqual([false, true])
  })
}
