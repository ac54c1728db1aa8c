import type { Observer } from '@switchhook/conformance'
import { type CallId, CallState, newCallId, TransferStatus } from '@switchhook/contracts'
import type { PbxAgent } from '@switchhook/platform-asterisk'
import { describeWithAsterisk } from './asterisk-lab.ts'
import type { LabHarness } from './lab-harness.ts'
import { People } from './people.ts'

/** As a share of the loudest possible sample. */
const SILENT = 0.002

const { initiated, proceeding, alerting, connected, held, ended } = CallState

describeWithAsterisk('people at the phones of a real Asterisk', (lab) => {
  const people = new People(lab)
  const { leg, inState } = people
  const phone = (name: string) => people.phone(name)
  let observer: Observer
  let on: LabHarness
  async function open(answer?: PbxAgent['answer']): Promise<void> {
    await people.open(answer)
    ;({ on, observer } = people)
  }
  beforeEach(() => open())
  afterEach(() => people.close())

  const states = (callId: CallId, agentUri = on.alice) => observer.eventsOf(callId, agentUri).map(({ state }) => state)
  const onlyCall = async (agentUri = on.alice): Promise<CallId> => {
    await on.until(() => observer.liveCalls(agentUri).length === 1)
    return observer.liveCalls(agentUri)[0] ?? newCallId()
  }

  test('answer, hold, resume and hang up there: the same events as by command', async () => {
    const callId = await people.answered()
    await phone('alice').hold(true)
    await inState(callId, held)
    await phone('alice').hold(false)
    await inState(callId, connected)
    phone('alice').hangup()
    expect(await inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 1, commandId: null })
    expect(states(callId)).toEqual([alerting, connected, held, connected, ended])
  })

  test('a phone renews its registration before it expires', async () => {
    phone('carol').die()
    const renewing = lab().newPhone('carol', 2)
    await renewing.register()
    await on.until(() => lab().isOnline('carol'))
    const states: boolean[] = []
    for (const end = Date.now() + 3_500; Date.now() < end; ) states.push(await lab().isOnline('carol'))
    expect(new Set(states)).toEqual(new Set([true]))
    expect(renewing.isRegistered).toBe(true)
    renewing.die()
  })

  test('decline: the leg was busy, and the caller hears it', async () => {
    const callId = await on.ring(on.alice)
    phone('alice').decline()
    expect(await inState(callId, ended)).toMatchObject({ endReason: 2, endedBy: 1, sipCode: 486 })
  })

  test.each([
    ['486 Busy Here', 486, 2],
    ['603 Decline', 403, 6],
    ['607 Unwanted', 480, 6],
    ['480 Temporarily Unavailable', 480, 10],
    ['302 Moved Temporarily', 480, 7],
  ])(
    'a call that the phone refuses with %s before it rings is a missed call, and the caller hears %i',
    async (status, heard, endReason) => {
      // Of a 302: a number outside of Switchhook, which answers.
      phone('alice').respondWith(status, '*43')
      const channelId = await lab().world().call('8101', '+15559000')
      await on.until(() => observer.reports().length > 0)
      const [missed] = observer.reports()
      expect(missed).toMatchObject({ agentUri: on.alice, state: ended, direction: 1, ending: { endReason } })
      await on.until(() => lab().world().endOf(channelId) !== undefined)
      expect(lab().world().endOf(channelId)).toBe(heard)
      await on.until(async () => (await lab().leftovers()) === 0)
    },
  )

  /** Of a redirect: an extension of the dialplan, and what Asterisk reads as a channel technology with its address. */
  const redirects = ['*43', 'PJSIP/bob', 'Local/*43@from-agent', 'PJSIP/+15550100@pstn']
  const calledSince = (before: number): readonly string[] => {
    const names = lab().world().created.slice(before)
    return names.map((name) => name.replace(/^PJSIP\/(.*)-.*$/, '$1')).toSorted((a, b) => a.localeCompare(b))
  }

  test.each(redirects)('nobody is called for a phone that redirects to %s', async (target) => {
    phone('alice').respondWith('302 Moved Temporarily', target)
    const before = lab().world().created.length
    const channelId = await lab().world().call('8101', '+15559000')
    await on.until(() => lab().world().endOf(channelId) !== undefined && observer.reports().length > 0)
    await on.until(async () => (await lab().leftovers()) === 0)
    expect(calledSince(before)).toEqual(['alice', 'pstn', 'world'])
    expect(observer.reports()).toMatchObject([{ agentUri: on.alice, ending: { endReason: 7 } }])
  })

  describe.each(redirects)('of a trunk that redirects to %s, the new address is not called', (target) => {
    beforeEach(() => lab().world().redirectTo(encodeURIComponent(target)))

    test('by a dial, which ends with reason 7', async () => {
      const before = lab().world().created.length
      const callId = await people.dial('+15550107')
      expect(await inState(callId, ended)).toMatchObject({ endReason: 7, sipCode: 302 })
      await on.until(async () => (await lab().leftovers()) === 0)
      expect(calledSince(before)).toEqual(['alice', 'pstn', 'world'])
    })

    test('by a transfer, whose customer returns', async () => {
      const callId = await people.answered()
      const before = lab().world().created.length
      await people.transfer(callId, '+15550107')
      await on.until(() => observer.latest(callId, on.alice)?.transfer?.failReason === 7)
      await people.expectTalking(['alice+pstn'])
      expect(calledSince(before)).toEqual(['pstn', 'world'])
    })
  })

  test('a call to a phone that is not registered is a missed call', async () => {
    phone('alice').die()
    await on.until(() => observer.devices().some(({ agentUri, online }) => agentUri === on.alice && !online))
    const channelId = await lab().world().call('8101', '+15559000')
    await on.until(() => lab().world().endOf(channelId) !== undefined && observer.reports().length > 0)
    expect(lab().world().endOf(channelId)).toBe(480)
    expect(observer.reports()).toMatchObject([{ agentUri: on.alice, state: ended, ending: { endReason: 10 } }])
  })

  test('183 without 180: the agent is alerted, and a declined call is a missed call', async () => {
    phone('alice').respondWith('183 Session Progress')
    const callId = await on.ring(on.alice)
    await inState(callId, alerting)
    phone('alice').decline('603 Decline')
    expect(await inState(callId, ended)).toMatchObject({ endReason: 6, answeredAt: null })
    expect(states(callId)).toEqual([alerting, ended])
  })

  test('183 without 180 from the destination: the far end rings', async () => {
    const callId = await people.dial('+15550106')
    await inState(callId, connected)
    expect(states(callId)).toEqual([initiated, proceeding, connected])
  })

  test('a call that is answered after another one has returned from a transfer: the returned call is held', async () => {
    const first = await people.answered()
    const second = await on.ring(on.alice)
    await inState(second, alerting)
    const toBusy = { target: '+15550101', correlationId: null, consultationCallId: null }
    await on.platform.transfer({ ...leg(first), ...toBusy })
    await on.until(() => observer.latest(first, on.alice)?.transfer?.status === TransferStatus.failed)
    expect(observer.latest(first, on.alice)?.state).toBe(connected)
    // As by an application that has not heard of the return yet.
    await on.platform.answer({ ...leg(second), holdFirst: [] })
    await inState(second, connected)
    await inState(first, held)
  })

  test('a call held at the phone is resumed by command', async () => {
    const callId = await people.answered()
    await phone('alice').hold(true)
    await inState(callId, held)
    await on.platform.resume({ ...leg(callId), holdFirst: [] })
    await inState(callId, connected)
  })

  test('dial: a call like any other, with a colleague and with the world', async () => {
    phone('alice').dial('+15550100')
    const outside = await onlyCall()
    await inState(outside, connected)
    expect(states(outside)).toEqual([initiated, proceeding, connected])
    await on.platform.hangup(leg(outside))
    await inState(outside, ended)
    phone('alice').dial('8102')
    const inside = await onlyCall()
    expect(await inState(inside, alerting, on.bob)).toMatchObject({ internal: true, remoteParty: { uri: on.alice } })
    phone('bob').answer()
    await inState(inside, connected)
    await inState(inside, connected, on.bob)
  })

  test('transfer: the same as a blind transfer by command', async () => {
    const callId = await people.answered()
    phone('alice').transfer('8102')
    expect(await inState(callId, alerting, on.bob)).toMatchObject({ role: 4 })
    await on.platform.answer({ ...leg(callId, on.bob), holdFirst: [] })
    expect(await inState(callId, ended)).toMatchObject({ endReason: 9 })
    await inState(callId, connected, on.bob)
  })

  test.each([
    ['8102', ['SIP/2.0 100 Trying', 'SIP/2.0 200 OK'], ended],
    ['+15550101', ['SIP/2.0 100 Trying', 'SIP/2.0 503 Service Unavailable'], connected],
    ['+15550103', ['SIP/2.0 100 Trying', 'SIP/2.0 503 Service Unavailable'], connected],
    ['+15550102', ['SIP/2.0 100 Trying', 'SIP/2.0 503 Service Unavailable'], connected],
  ])('a phone that transfers to %s is told what becomes of it: %j', async (number, lines, state) => {
    const callId = await people.answered()
    const before = phone('alice').transferResults.length
    const told = () => phone('alice').transferResults.slice(before)
    phone('alice').transfer(number)
    if (number === '8102') {
      await inState(callId, alerting, on.bob)
      expect(told().filter((line) => !line.startsWith('SIP/2.0 1'))).toEqual([])
      phone('bob').answer()
    }
    await on.until(() => told().length === lines.length)
    expect(told()).toEqual(lines)
    await inState(callId, state)
  })

  test('a phone that hangs up before its transfer fails is called back, for the customer', async () => {
    const callId = await people.answered()
    phone('alice').transfer('+15550102')
    await on.until(() => observer.latest(callId, on.alice)?.transfer?.status === TransferStatus.ringing)
    phone('alice').hangup()
    expect(await inState(callId, ended)).toMatchObject({ endReason: 9 })
    const again = await onlyCall()
    expect(observer.latest(again, on.alice)).toMatchObject({ state: alerting, transfer: { status: 4, failReason: 4 } })
    phone('alice').answer()
    await inState(again, connected)
    await people.expectTalking(['alice+pstn'])
  })

  test('transfer of a call that was dialled there', async () => {
    phone('alice').dial('+15550100')
    const callId = await onlyCall()
    await inState(callId, connected)
    await on.until(() => phone('alice').calls.some(({ isTalking }) => isTalking))
    phone('alice').transfer('8102')
    await inState(callId, alerting, on.bob)
    phone('bob').answer()
    expect(await inState(callId, ended)).toMatchObject({ endReason: 9 })
    await inState(callId, connected, on.bob)
  })

  describe('attended transfer', () => {
    const consult = async (number: string): Promise<readonly [CallId, CallId]> => {
      const callId = await people.answered()
      await phone('alice').hold(true)
      await inState(callId, held)
      phone('alice').dial(number)
      await on.until(() => observer.liveCalls(on.alice).length === 2)
      return [callId, observer.liveCalls(on.alice).find((one) => one !== callId) ?? callId]
    }
    const results = () =>
      lab()
        .phone('alice')
        .transferResults.filter((line) => !line.startsWith('SIP/2.0 1'))

    test('of a customer to a colleague: the same as by command', async () => {
      const before = results().length
      const [callId, consultation] = await consult('8102')
      await inState(consultation, alerting, on.bob)
      phone('bob').answer()
      await inState(consultation, connected)
      await people.joinCalls()
      const transfer = { blind: false, target: on.bob, role: 1, status: 3, otherCallId: consultation }
      expect(await inState(callId, ended)).toMatchObject({ endReason: 9, commandId: null, transfer })
      expect(await inState(consultation, ended)).toMatchObject({ endReason: 9, endedBy: 1 })
      expect(await inState(consultation, ended, on.bob)).toMatchObject({ endReason: 9 })
      expect(await inState(callId, connected, on.bob)).toMatchObject({ role: 4, transfer: { role: 3, status: 3 } })
      await on.until(() => phone('alice').calls.length === 0 && results().length > before)
      expect(results().slice(before)).toEqual(['SIP/2.0 200 OK'])
      const [customer] = await lab().world().channels()
      await lab()
        .world()
        .sendTone(customer?.id ?? '')
      await people.expectAudible('bob')
      await on.hangupRemotely(callId)
      expect(await inState(callId, ended, on.bob)).toMatchObject({ endReason: 1, endedBy: 2 })
    })

    test('to an outside number: both talk on, and everything ends with either', async () => {
      const [callId, consultation] = await consult('+15550100')
      await inState(consultation, connected)
      await people.joinCalls()
      expect(await inState(callId, ended)).toMatchObject({ endReason: 9 })
      expect(await inState(consultation, ended)).toMatchObject({ endReason: 9 })
      await on.until(() => phone('alice').calls.length === 0)
      expect(await lab().world().channels()).toHaveLength(2)
      await on.hangupRemotely(callId)
      for (let left = 2; left > 0; ) left = (await lab().world().channels()).length
    })

    test('to a call that Switchhook does not control is declined, and both calls go on', async () => {
      const before = results().length
      const callId = await people.answered()
      await phone('alice').hold(true)
      await inState(callId, held)
      phone('alice').dial('*43')
      await people.joinCalls()
      await on.until(() => results().length > before)
      expect(results().slice(before)).toEqual(['SIP/2.0 603 Decline'])
      expect(phone('alice').calls).toHaveLength(2)
      expect(observer.latest(callId, on.alice)).toMatchObject({ state: held, transfer: null })
    })
  })

  describe('a line that is open all day', () => {
    beforeEach(async () => {
      await on.platform.stop()
      await open('connected')
    })
    const answer = async (callId: CallId, holdFirst: readonly CallId[] = []): Promise<void> => {
      await on.platform.answer({ ...leg(callId), holdFirst })
      await inState(callId, connected)
    }
    const resume = async (callId: CallId, holdFirst: readonly CallId[]): Promise<void> => {
      await on.platform.resume({ ...leg(callId), holdFirst })
      await inState(callId, connected)
    }

    test('answers no call by command while the agent has it on hold', async () => {
      await phone('alice').hold(true)
      const callId = await on.ring(on.alice)
      const failed = leg(callId)
      await on.platform.answer({ ...failed, holdFirst: [] })
      const { commandId } = failed
      await on.until(() => observer.latest(callId, on.alice)?.commandResult?.commandId === commandId)
      expect(observer.latest(callId, on.alice)).toMatchObject({ state: alerting, commandResult: { result: 2 } })
      await phone('alice').hold(false)
      // The phone learns first that it has resumed.
      await on.until(async () => {
        await on.platform.answer({ ...leg(callId), holdFirst: [] })
        return observer.latest(callId, on.alice)?.state === connected
      })
      await people.expectTalking(['alice+pstn'])
    })

    test('carries one call after the other, and a second one while the first is on hold', async () => {
      const first = await on.ring(on.alice)
      await answer(first)
      const [far] = await lab().world().channels()
      const second = await on.ring(on.alice)
      await answer(second, [first])
      expect(observer.latest(first, on.alice)?.state).toBe(held)
      await resume(first, [second])
      await lab()
        .world()
        .sendTone(far?.id ?? '')
      await people.expectAudible('alice')
      await on.hangupRemotely(first)
      await inState(first, ended)
      expect(await lab().world().loudnessAt('alice')).toBeLessThan(SILENT)
      await resume(second, [])
      await on.platform.hangup(leg(second))
      await inState(second, ended)
      expect(phone('alice').calls).toHaveLength(1)
    })

    test('ends its calls when the agent hangs up; the next call rings at the phone', async () => {
      const callId = await on.ring(on.alice)
      await answer(callId)
      phone('alice').hangup()
      expect(await inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 1 })
      await on.until(() => phone('alice').calls.length === 0)
      const next = await on.ring(on.alice)
      expect(await on.platform.findAgent(on.tenant, on.alice)).toMatchObject({ remoteAnswer: false })
      phone('alice').answer()
      await inState(next, connected)
    })

    test('rings for as long as a phone', async () => {
      const callId = await on.ring(on.alice)
      expect(await inState(callId, ended)).toMatchObject({ endReason: 4, endedBy: 3 })
      expect(phone('alice').calls).toHaveLength(1)
    })

    test('hold, resume and transfer at the phone concern the call that is on the line', async () => {
      const first = await on.ring(on.alice)
      await answer(first)
      await on.platform.hold(leg(first))
      const second = await on.ring(on.alice)
      await answer(second)
      await phone('alice').hold(true)
      await inState(second, held)
      await phone('alice').hold(false)
      await inState(second, connected)
      phone('alice').transfer('8102')
      await inState(second, alerting, on.bob)
      await on.platform.answer({ ...leg(second, on.bob), holdFirst: [] })
      expect(await inState(second, ended)).toMatchObject({ endReason: 9 })
      expect(observer.latest(first, on.alice)).toMatchObject({ state: held, transfer: null })
    })

    test('is closed when the phone is lost, and opened again at the phone', async () => {
      await on.setDevice(on.alice, false)
      const isOpen = async () => (await on.platform.findAgent(on.tenant, on.alice))?.remoteAnswer === true
      await on.until(async () => !(await isOpen()))
      await on.setDevice(on.alice, true)
      phone('alice').dial('*50')
      await on.until(isOpen)
      const callId = await on.ring(on.alice)
      await answer(callId)
      expect(phone('alice').calls).toHaveLength(1)
    })
  })

  test('a customer who is transferred to an outside number talks on, and everything ends with either', async () => {
    const callId = await people.answered()
    const command = { ...leg(callId), target: '+15550100', correlationId: null, consultationCallId: null }
    await on.platform.transfer(command)
    expect(await inState(callId, ended)).toMatchObject({ endReason: 9 })
    expect(await lab().world().channels()).toHaveLength(2)
    await on.hangupRemotely(callId)
    for (let left = 2; left > 0; ) left = (await lab().world().channels()).length
  })

  test('the customer sees the cli that was asked for, or the default, and never the extension', async () => {
    const before = lab().world().seen.length
    const seen = () => lab().world().seen.slice(before)
    for (const cli of ['+1 (555) 0199', null, 'anonymous']) {
      const count = seen().length
      const callId = await people.dial('+15550100', cli)
      await inState(callId, connected)
      await on.until(() => seen().length > count)
      await on.platform.hangup(leg(callId))
      expect(await inState(callId, ended)).toMatchObject({ cli: seen().at(-1) })
    }
    const consultation = newCallId()
    await people.transfer(await people.answered(), '+15550100', consultation)
    expect(await inState(consultation, connected)).toMatchObject({ cli: '+15550000' })
    await on.until(() => seen().length === 4)
    expect(seen()).toEqual(['+15550199', '+15550000', 'anonymous', '+15550000'])
  })

  test('the customer holds: the event of the agent shows it', async () => {
    const callId = await people.answered()
    const [far] = await lab().world().channels()
    await lab()
      .world()
      .hold(far?.id ?? '', true)
    await on.until(() => observer.latest(callId, on.alice)?.remoteHeld === true)
    await lab()
      .world()
      .hold(far?.id ?? '', false)
    await on.until(() => observer.latest(callId, on.alice)?.remoteHeld === false)
  })

  test('on hold the agent hears nothing and the customer hears music, and the agent hears the customer after resume', async () => {
    const callId = await people.answered()
    const [far] = await lab().world().channels()
    await lab()
      .world()
      .sendTone(far?.id ?? '')
    const loudness = () => lab().world().loudnessAt('alice')
    await people.expectAudible('alice')
    await on.platform.hold(leg(callId))
    await inState(callId, held)
    expect(await loudness()).toBeLessThan(SILENT)
    await people.expectAudible('pstn')
    await on.platform.resume({ ...leg(callId), holdFirst: [] })
    await inState(callId, connected)
    await people.expectAudible('alice')
  })

  test.each(['+1555;Local/8102@from-agent', 'Local/8102@from-agent', '8102&PJSIP/carol'])(
    'nothing is dialled for %s',
    async (destination) => {
      const callId = await people.dial(destination)
      expect(await inState(callId, ended)).toMatchObject({ endReason: 3 })
      expect(phone('alice').calls).toEqual([])
      expect(phone('bob').calls).toEqual([])
    },
  )

  test('a phone that cannot be made to answer: the agent is said to be so, and the command fails', async () => {
    await on.platform.stop()
    await open('none')
    expect(await on.platform.findAgent(on.tenant, on.alice)).toMatchObject({ remoteAnswer: false })
    const callId = await on.ring(on.alice)
    const answer = leg(callId)
    await on.platform.answer({ ...answer, holdFirst: [] })
    await on.until(() => observer.latest(callId, on.alice)?.commandResult !== null)
    expect(observer.latest(callId, on.alice)).toMatchObject({ state: alerting, commandResult: { result: 2 } })
    phone('alice').answer()
    await inState(callId, connected)
  })

  test.each([
    ['+15559000', { name: 'Erika Muster' }, { uri: 'tel:+15559000', number: '+15559000', name: 'Erika Muster' }],
    ['+15559000', { isWithheld: true }, { uri: null, number: null, name: null }],
    ['+15559000', { privacy: 'id;user' }, { uri: null, number: null, name: null }],
    ['+15559000', { privacy: 'none' }, { uri: null, number: null }],
    ['sales', {}, { uri: null, number: null }],
  ])('a caller %s %j is reported as %j, and shown to the agent', async (from, how, remoteParty) => {
    await lab().world().call('8101', from, how)
    const callId = await onlyCall()
    expect(observer.latest(callId, on.alice)?.remoteParty).toMatchObject(remoteParty)
    const isWithheld = 'isWithheld' in how || ('privacy' in how && how.privacy !== 'none')
    const shown = isWithheld ? /anonymous/i : 'name' in how ? /Erika Muster.*9000/ : /5550000/
    expect(phone('alice').caller).toMatch(shown)
  })

  test('an unknown number is refused, and no call is reported', async () => {
    const channelId = await lab().world().call('8199', '+15559000')
    for (let left = [channelId]; left.includes(channelId); ) left = (await lab().world().channels()).map(({ id }) => id)
    expect(observer.reports()).toEqual([])
  })
})
