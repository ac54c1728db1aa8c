import type { Observer } from '@switchhook/conformance'
import { CallState, newCallId, Unavailable } from '@switchhook/contracts'
import { PlatformUnavailable } from '@switchhook/platform'
import { openUnknown } from '@switchhook/platform-asterisk'
import { describeWithAsterisk } from './asterisk-lab.ts'
import type { LabHarness } from './lab-harness.ts'
import { People } from './people.ts'

const { alerting, connected, held, ended } = CallState

/** Seconds. An unplugged phone is lost after two. */
const RINGS_LONGER_THAN_GRACE = 10

describeWithAsterisk('faults of a real Asterisk', (lab) => {
  const people = new People(lab)
  const { leg, inState } = people
  const phone = (name: string) => people.phone(name)
  let observer: Observer
  let on: LabHarness
  beforeEach(async () => {
    await people.open()
    ;({ on, observer } = people)
  })
  afterEach(() => people.close())

  test('Asterisk is restarted: each leg ends once, with reason 12, and calls are possible again', async () => {
    const callId = await people.dialled()
    await lab().restart()
    expect(await inState(callId, ended)).toMatchObject({ endReason: 12, endedBy: 3 })
    await on.until(() => on.platform.link === 'connected')
    const next = await people.dialled()
    await on.platform.hangup(leg(next))
    await inState(next, ended)
  })

  test('the customer hangs up while the link is cut: the leg ends once it is back', async () => {
    const callId = await people.dialled()
    on.cutOff(true)
    await expect(on.platform.hangup(leg(callId))).rejects.toBeInstanceOf(PlatformUnavailable)
    for (const { id } of await lab().world().channels()) await lab().world().hangup(id)
    // Its event is lost: the adapter is cut off while Asterisk sends it.
    await on.until(async () => (await lab().calls()).channels.every(({ name }) => !name.startsWith('PJSIP/pstn-')))
    on.cutOff(false)
    expect(await inState(callId, ended)).toMatchObject({ endReason: 12 })
    expect(observer.eventsOf(callId, on.alice).filter(({ state }) => state === ended)).toHaveLength(1)
    // The phone's call ends too.
    await on.until(() => phone('alice').calls.length === 0)
  })

  test('a caller from before a cut of the link hangs up after it: the reason is reported', async () => {
    const callId = await on.ring(on.alice)
    await inState(callId, alerting)
    await on.platform.answer({ ...leg(callId), holdFirst: [] })
    await inState(callId, connected)
    on.cutOff(true)
    await on.until(() => on.platform.link !== 'connected')
    on.cutOff(false)
    await on.until(() => on.platform.link === 'connected')
    await on.hangupRemotely(callId)
    expect(await inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
  })

  test('a phone on hold resumes while the link is cut: the call is connected once the link is back', async () => {
    const callId = await people.answered()
    await phone('alice').hold(true)
    await inState(callId, held)
    on.cutOff(true)
    await on.until(() => on.platform.link !== 'connected')
    await phone('alice').hold(false)
    on.cutOff(false)
    await inState(callId, connected)
    await people.expectTalking(['alice+pstn'])
  })

  test('a called party who does not ring yet is not dialled again, which would end the call', async () => {
    const callId = await people.dial('+15550105')
    for (let called = 0; called === 0; ) called = (await lab().world().channels()).length
    await on.platform.due({ tenant: on.tenant, payload: { sessionId: callId, input: null } })
    await on.until(() => [connected, ended].some((state) => state === observer.latest(callId, on.alice)?.state))
    expect(observer.latest(callId, on.alice)).toMatchObject({ state: connected })
  })

  test('the customer hangs up during a short pause of Redis: the reason is reported, and the link stays open', async () => {
    const callId = await people.dialled()
    on.memory.outage = new Unavailable('redis', 'paused')
    for (const { id } of await lab().world().channels()) await lab().world().hangup(id)
    await on.until(() => on.memory.refusedReads > 0)
    on.memory.outage = undefined
    expect(await inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
    expect(on.platform.link).toBe('connected')
  })

  test('a caller who arrives during a longer outage of Redis is refused with 503, and the next one is not', async () => {
    on.memory.outage = new Unavailable('redis', 'away')
    const refused = await lab().world().call('8101', '+15559000')
    await on.until(() => lab().world().endOf(refused) !== undefined)
    expect(lab().world().endOf(refused)).toBe(503)
    await on.until(() => on.platform.link !== 'connected')
    on.memory.outage = undefined
    await on.until(() => on.platform.link === 'connected')
    await people.answered()
    expect(observer.liveCalls(on.alice)).toHaveLength(1)
  })

  test('a caller who rings while the link is cut is not lost to the next one', async () => {
    on.cutOff(true)
    await on.until(() => on.platform.link !== 'connected')
    // Without a client of the application, Asterisk refuses the call: the carrier hears 503.
    const refused = await lab().world().call('8101', '+15559000')
    for (let left = [refused]; left.includes(refused); ) left = (await lab().world().channels()).map(({ id }) => id)
    on.cutOff(false)
    await on.until(() => on.platform.link === 'connected')
    await on.ring(on.alice)
    expect(observer.liveCalls(on.alice)).toHaveLength(1)
  })

  test('of two replicas one receives the events, and the other takes over when it dies', async () => {
    const second = on.replica(observer)
    await second.start(observer.listener)
    await on.until(() => second.link === 'standby')
    expect(on.platform.link).toBe('connected')
    const callId = await people.dialled()
    // Any replica carries commands out.
    await second.hold(leg(callId))
    await inState(callId, held)
    on.memory.due = (timer) => second.due(timer)
    await on.platform.kill()
    await on.until(() => second.link === 'connected')
    await second.resume({ ...leg(callId), holdFirst: [] })
    await inState(callId, connected)
    for (const { id } of await lab().world().channels()) await lab().world().hangup(id)
    expect(await inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
    await second.stop()
  })

  test('Redis is restored to an older state: the calls that it lacks go on, until an operator ends them', async () => {
    const restore = on.memory.backUp()
    const callId = await people.dialled()
    const talking = await lab().world().channels()
    restore()
    // The calls are compared after each connect, and again two seconds later.
    on.cutOff(true)
    await on.until(() => on.platform.link !== 'connected')
    on.cutOff(false)
    const before = on.unknown.length
    await on.until(() => on.unknown.length >= before + 2)
    expect(on.unknown.at(-1)).toBe(2)
    expect(await lab().world().channels()).toEqual(talking)

    const operator = openUnknown({ ...on, app: 'switchhook', verifyStorage: async () => {} })
    const unknown = await operator.list()
    expect(unknown).toMatchObject([
      { isTalking: true, session: { sessionId: callId } },
      { isTalking: true, session: { sessionId: callId } },
    ])
    for (const channel of unknown) await operator.remove(channel)
    await operator.close()
    await on.until(() => phone('alice').calls.length === 0)
  })

  test('a call that the dialplan does not hand over is neither counted nor ended', async () => {
    phone('alice').dial('*43')
    await on.until(() => phone('alice').calls.some(({ isTalking }) => isTalking))
    const before = on.unknown.length
    on.cutOff(true)
    await on.until(() => on.platform.link !== 'connected')
    on.cutOff(false)
    await on.until(() => on.unknown.length >= before + 2)
    expect(new Set(on.unknown.slice(before))).toEqual(new Set([0]))
    expect(phone('alice').calls).toEqual([{ isTalking: true }])
    expect(observer.reports()).toEqual([])
    phone('alice').hangup()
  })

  test('a phone is unplugged while its transfer rings: Asterisk may list its channel for ever, and nothing waits for it', async () => {
    await people.close()
    await people.open('talk', RINGS_LONGER_THAN_GRACE)
    ;({ on, observer } = people)
    const callId = await people.answered()
    phone('alice').transfer('8103')
    await inState(callId, alerting, on.carol)
    phone('alice').die()
    expect(await inState(callId, ended)).toMatchObject({ endReason: 10 })
    phone('carol').answer()
    await inState(callId, connected, on.carol)
    phone('carol').hangup()
    await inState(callId, ended, on.carol)
    const before = on.unknown.length
    // The calls are compared after each connect, and again two seconds later.
    on.cutOff(true)
    await on.until(() => on.platform.link !== 'connected')
    on.cutOff(false)
    await on.until(async () => on.unknown.length >= before + 2 && (await on.memory.list()).length === 0)
    expect(await lab().leftovers()).toBe(0)
    expect(on.unknown.at(-1)).toBe(0)
  })

  test('the agent does not answer the phone: the customer is not called', async () => {
    phone('alice').ignoreRequestsToAnswer(true)
    const before = lab().world().created.length
    const callId = await people.dial('+15550100')
    expect(await inState(callId, ended)).toMatchObject({ endReason: 4 })
    expect(lab().world().created.slice(before)).toEqual([expect.stringContaining('PJSIP/alice-')])
    phone('alice').ignoreRequestsToAnswer(false)
  })

  test('a phone that is not registered: the call ends with reason 10', async () => {
    phone('alice').die()
    await on.until(() => observer.devices().some(({ agentUri, online }) => agentUri === on.alice && !online))
    const callId = await people.dial('+15550100')
    expect(await inState(callId, ended)).toMatchObject({ endReason: 10 })
  })

  test('after all calls, no channel and no bridge is left', async () => {
    const callId = await people.dialled()
    await on.platform.hold(leg(callId))
    await inState(callId, held)
    await on.platform.transfer({ ...leg(callId), target: on.bob, correlationId: null, consultationCallId: newCallId() })
    await on.until(() => observer.liveCalls(on.bob).length === 1)
    await on.platform.hangup(leg(callId))
    for (const { id } of await lab().world().channels()) await lab().world().hangup(id)
    await inState(callId, ended, on.bob)
    const isClear = async () => (await lab().leftovers()) === 0
    for (let isDone = false; !isDone; ) isDone = await isClear()
  })
})
