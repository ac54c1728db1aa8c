import { type CallId, CallState, newCallId } from '@switchhook/contracts'
import { describeWithAsterisk } from './asterisk-lab.ts'
import { People } from './people.ts'

const { alerting, connected, held, proceeding, ended } = CallState

/** Longer than a phone may be away before it counts as lost. */
const RING_SECONDS = 10

describeWithAsterisk('who hears whom on a real Asterisk, within 300 ms of the state that says so', (lab) => {
  const people = new People(lab)
  const phone = (name: string) => people.phone(name)

  describe.each([
    ['phones that ring', 'talk'],
    ['lines that are open all day', 'connected'],
  ] as const)('on %s', (_name, answer) => {
    beforeEach(() => people.open(answer, RING_SECONDS))
    afterEach(() => people.close())

    test.each([
      [
        'by command',
        (callId: CallId) => people.on.platform.hold(people.leg(callId)),
        (callId: CallId) => people.on.platform.resume({ ...people.leg(callId), holdFirst: [] }),
      ],
      ['at the phone', () => phone('alice').hold(true), () => phone('alice').hold(false)],
    ])('hold and resume %s, twice', async (_way, hold, resume) => {
      const callId = await people.answered()
      await people.expectTalking(['alice+pstn'])
      for (let times = 0; times < 2; times += 1) {
        await hold(callId)
        await people.inState(callId, held)
        await people.expectTalking([], ['pstn'])
        await resume(callId)
        await people.inState(callId, connected)
        await people.expectTalking(['alice+pstn'])
      }
      const [customer] = await lab().world().channels()
      await lab()
        .world()
        .sendTone(customer?.id ?? '')
      await people.expectAudible('alice')
    })

    test('both parties hold, and resume', async () => {
      const callId = await people.withColleague()
      await people.expectTalking(['alice+bob'])
      const { alice, bob } = people.on
      for (const agentUri of [alice, bob]) await people.on.platform.hold(people.leg(callId, agentUri))
      await people.inState(callId, held, bob)
      await people.expectTalking([], answer === 'talk' ? ['alice+bob'] : [])
      await people.on.platform.resume({ ...people.leg(callId, alice), holdFirst: [] })
      await people.inState(callId, connected)
      await people.expectTalking([], ['alice'])
      // Bob has left the bridge in which both heard music.
      await people.expectAudible('alice')
      await people.on.platform.resume({ ...people.leg(callId, bob), holdFirst: [] })
      await people.inState(callId, connected, bob)
      await people.expectTalking(['alice+bob'])
    })

    test('a second call is answered, and the first one resumed', async () => {
      const first = await people.answered()
      const second = await people.ringing()
      await people.on.platform.answer({ ...people.leg(second), holdFirst: [first] })
      await people.inState(second, connected)
      await people.expectTalking(['alice+pstn'], ['pstn'])
      await people.on.platform.resume({ ...people.leg(first), holdFirst: [second] })
      await people.inState(first, connected)
      await people.expectTalking(['alice+pstn'], ['pstn'])
    })

    test.each<[string, (callId: CallId, consultation: CallId) => Promise<unknown> | void]>([
      [
        'completed by command',
        (callId) => people.on.platform.completeTransfer({ ...people.leg(callId), correlationId: null }),
      ],
      [
        'completed by hangup of the consultation',
        (_, consultation) => people.on.platform.hangup(people.leg(consultation)),
      ],
      ['completed by hangup of the call', (callId) => people.on.platform.hangup(people.leg(callId))],
      ['whose agent hangs up the phone', () => phone('alice').hangup()],
      ['whose agent unplugs the phone', () => phone('alice').die()],
    ])('an attended transfer, %s after the answer', async (_name, complete) => {
      const [callId, consultation] = await people.consulting()
      await people.expectTalking(['alice+bob'], ['pstn'])
      await complete(callId, consultation)
      await people.inState(callId, connected, people.on.bob)
      await people.expectTalking(['bob+pstn'])
      await people.inState(callId, ended)
    })

    test.each<[string, (callId: CallId, consultation: CallId) => Promise<unknown> | void]>([
      ['cancelled', (callId) => people.on.platform.resume({ ...people.leg(callId), holdFirst: [] })],
      ['whose target hangs up the phone', () => phone('bob').hangup()],
      ['whose target unplugs the phone', () => phone('bob').die()],
      ['left by the target by command', (_callId, id) => people.on.platform.hangup(people.leg(id, people.on.bob))],
    ])('an attended transfer, %s after the answer', async (_name, end) => {
      const [callId, consultation] = await people.consulting()
      await end(callId, consultation)
      await people.inState(callId, connected)
      await people.expectTalking(['alice+pstn'])
    })

    test('an attended transfer that is completed while the target rings', async () => {
      const [callId, consultation] = [await people.answered(), newCallId()]
      await people.transfer(callId, people.on.bob, consultation)
      await people.inState(consultation, alerting, people.on.bob)
      await people.on.platform.completeTransfer({ ...people.leg(callId), correlationId: null })
      await people.inState(callId, alerting, people.on.bob)
      await people.expectTalking([], ['pstn'])
      await people.answer(callId, people.on.bob)
      await people.expectTalking(['bob+pstn'])
    })

    test('an attended transfer with the keys of the phone', async () => {
      const callId = await people.answered()
      await phone('alice').hold(true)
      phone('alice').dial('8102')
      await people.on.until(() => people.observer.latest(callId, people.on.alice)?.state === held)
      await people.on.until(() => people.observer.liveCalls(people.on.bob).length === 1)
      const [consultation = callId] = people.observer.liveCalls(people.on.bob)
      await people.answer(consultation, people.on.bob)
      await people.inState(consultation, connected)
      await people.joinCalls()
      await people.inState(callId, connected, people.on.bob)
      await people.expectTalking(['bob+pstn'])
    })

    test('a phone that hangs up as soon as it has asked for a transfer: the customer waits for the target', async () => {
      const callId = await people.answered()
      phone('alice').transfer('8102')
      phone('alice').hangup()
      await people.inState(callId, alerting, people.on.bob)
      await people.expectTalking([], ['pstn'])
      await people.answer(callId, people.on.bob)
      await people.expectTalking(['bob+pstn'])
    })

    test('a phone that transfers is told once what becomes of it', async () => {
      const before = phone('alice').transferResults.length
      const callId = await people.answered()
      phone('alice').transfer('8102')
      await people.inState(callId, alerting, people.on.bob)
      await people.answer(callId, people.on.bob)
      await people.expectTalking(['bob+pstn'])
      const told = () => phone('alice').transferResults.slice(before)
      await people.on.until(() => told().length > 1)
      // A second answer would come before this end.
      phone('bob').hangup()
      await people.inState(callId, ended, people.on.bob)
      expect(told()).toEqual(['SIP/2.0 100 Trying', 'SIP/2.0 200 OK'])
    })

    test.each([
      ['a blind transfer', (callId: CallId) => people.transfer(callId, '+15550101')],
      ['a transfer at the phone', async () => phone('alice').transfer('+15550101')],
      ['an attended transfer', (callId: CallId) => people.transfer(callId, '+15550101', newCallId())],
    ])('%s to a busy target', async (_name, transfer) => {
      const callId = await people.answered()
      await transfer(callId)
      await people.on.until(() => people.observer.latest(callId, people.on.alice)?.transfer?.status === 4)
      await people.expectTalking(['alice+pstn'])
    })

    test('a transfer at the phone, on hold there, to a busy target', async () => {
      const callId = await people.answered()
      await phone('alice').hold(true)
      await people.inState(callId, held)
      phone('alice').transfer('+15550101')
      await people.on.until(() => people.observer.latest(callId, people.on.alice)?.transfer?.status === 4)
      expect(people.observer.latest(callId, people.on.alice)).toMatchObject({ state: held })
      await people.expectTalking([], ['pstn'])
      await phone('alice').hold(false)
      await people.inState(callId, connected)
      await people.expectTalking(['alice+pstn'])
    })

    /** How a phone leaves its call, and the reason with which the leg ends. */
    const ways: readonly (readonly [string, (name: string) => Promise<void> | void, number])[] = [
      ['hangs up', (name) => phone(name).hangup(), 1],
      ['is unplugged', (name) => phone(name).die(), 10],
      ['is cut off by Asterisk', (name) => lab().endChannelOf(name, '44'), 10],
      ['is hung up by Asterisk', (name) => lab().endChannelOf(name, '16'), 1],
    ]

    test.each(ways)(
      'a phone that %s ends its call, and the other party is not left alone',
      async (_way, leave, endReason) => {
        const withCustomer = await people.answered()
        await leave('alice')
        expect(await people.inState(withCustomer, ended)).toMatchObject({ endReason })
        await people.expectTalking([])
      },
    )

    test.each<[string, (callId: CallId) => Promise<unknown> | void, number]>([
      ['the customer hangs up', (callId) => people.on.hangupRemotely(callId), 5],
      ['the phone is unplugged', () => phone('alice').die(), 10],
      ['the phone is cut off by Asterisk', () => lab().endChannelOf('alice', '44'), 10],
    ])('while a call rings %s: it ends for both', async (_way, end, endReason) => {
      const callId = await people.ringing()
      await end(callId)
      expect(await people.inState(callId, ended)).toMatchObject({ endReason })
      await people.on.until(async () => (await lab().world().channels()).length === 0)
      await people.expectTalking([])
    })

    test.each(ways)('a phone that %s ends its call on hold', async (_way, leave, endReason) => {
      const callId = await people.answered()
      await people.on.platform.hold(people.leg(callId))
      await people.inState(callId, held)
      await leave('alice')
      expect(await people.inState(callId, ended)).toMatchObject({ endReason })
      await people.expectTalking([])
    })

    test.each(ways)('a phone that %s ends its call with a colleague', async (_way, leave, endReason) => {
      const callId = await people.withColleague()
      await leave('bob')
      expect(await people.inState(callId, ended)).toMatchObject({ endReason })
      await people.expectTalking([])
    })

    test('a call that the agent dials', async () => {
      await people.dialled()
      await people.expectTalking(['alice+pstn'])
    })

    test.each<[string, (callId: CallId) => Promise<unknown> | void, number]>([
      ['the agent hangs up by command', (callId) => people.on.platform.hangup(people.leg(callId)), 5],
      ['the phone hangs up', () => phone('alice').hangup(), 5],
      ['the phone is unplugged', () => phone('alice').die(), 10],
      ['the phone is cut off by Asterisk', () => lab().endChannelOf('alice', '44'), 10],
    ])('while the dialled party rings %s: it stops ringing', async (_way, leave, endReason) => {
      const callId = await people.dial('+15550102')
      await people.inState(callId, proceeding)
      await leave(callId)
      expect(await people.inState(callId, ended)).toMatchObject({ endReason })
      await people.on.until(async () => (await lab().world().channels()).length === 0)
      await people.expectTalking([])
    })

    test.each<[string, () => Promise<CallId>, number]>([
      ['while it rings', () => people.ringing(), 6],
      ['while they talk', () => people.answered(), 1],
      [
        'on hold',
        async () => {
          const callId = await people.answered()
          await people.on.platform.hold(people.leg(callId))
          await people.inState(callId, held)
          return callId
        },
        1,
      ],
      ['with a colleague', () => people.withColleague(), 1],
    ])('an agent hangs up a call by command %s', async (_stage, reach, endReason) => {
      const callId = await reach()
      await people.on.platform.hangup(people.leg(callId))
      expect(await people.inState(callId, ended)).toMatchObject({ endReason })
      await people.expectTalking([])
    })

    test.each([
      ['by command', (callId: CallId) => people.transfer(callId, '+15550100')],
      ['at the phone', async () => phone('alice').transfer('+15550100')],
    ])('a blind transfer %s to an outside party who answers', async (_way, transfer) => {
      const callId = await people.answered()
      await transfer(callId)
      expect(await people.inState(callId, ended)).toMatchObject({ endReason: 9 })
      await people.expectTalking(['pstn+pstn'])
    })

    describe('with a second call, and the first one on hold', () => {
      let first: CallId
      let second: CallId
      beforeEach(async () => {
        first = await people.answered()
        second = await people.ringing()
        await people.on.platform.answer({ ...people.leg(second), holdFirst: [first] })
        await people.inState(second, connected)
        await people.expectTalking(['alice+pstn'], ['pstn'])
      })
      const resume = (callId: CallId) => people.on.platform.resume({ ...people.leg(callId), holdFirst: [] })

      test.each(ways)('the phone %s', async (way, leave, endReason) => {
        await leave('alice')
        expect(await people.inState(second, ended)).toMatchObject({ endReason })
        // Each call has a connection of its own, unless both are on the line that is open all day.
        const isFirstLeft = answer === 'talk' && way !== 'is unplugged'
        if (isFirstLeft) {
          await people.expectTalking([], ['pstn'])
          await resume(first)
          await people.inState(first, connected)
          await people.expectTalking(['alice+pstn'])
        } else {
          expect(await people.inState(first, ended)).toMatchObject({ endReason })
          await people.expectTalking([])
        }
      })

      test.each<[string, (callId: CallId) => Promise<void>, number]>([
        ['hangs up', (callId) => people.on.hangupRemotely(callId), 1],
        ['loses the network', () => lab().endChannelOf('pstn', '44'), 10],
      ])('the customer who talks %s: the first call is resumed', async (_way, leave, endReason) => {
        await leave(second)
        expect(await people.inState(second, ended)).toMatchObject({ endReason })
        await people.expectTalking([], ['pstn'])
        await resume(first)
        await people.inState(first, connected)
        await people.expectTalking(['alice+pstn'])
      })

      test('the customer on hold hangs up: the second call goes on', async () => {
        await people.on.hangupRemotely(first)
        expect(await people.inState(first, ended)).toMatchObject({ endReason: 1 })
        await people.expectTalking(['alice+pstn'])
      })
    })

    describe.each<[string, (callId: CallId) => Promise<void>, number]>([
      ['hangs up', (callId) => people.on.hangupRemotely(callId), 1],
      ['loses the network', () => lab().endChannelOf('pstn', '44'), 10],
    ])('a customer who %s', (_way, leave, endReason) => {
      test('ends the call, also on hold', async () => {
        const talking = await people.answered()
        await leave(talking)
        expect(await people.inState(talking, ended)).toMatchObject({ endReason })
        await people.expectTalking([])
        const onHold = await people.answered()
        await people.on.platform.hold(people.leg(onHold))
        await people.inState(onHold, held)
        await leave(onHold)
        expect(await people.inState(onHold, ended)).toMatchObject({ endReason })
        await people.expectTalking([])
      })

      test('while the target of a blind transfer rings: it stops ringing', async () => {
        const callId = await people.answered()
        await people.transfer(callId, people.on.bob)
        await people.inState(callId, alerting, people.on.bob)
        await leave(callId)
        await people.inState(callId, ended, people.on.bob)
        await people.inState(callId, ended)
        await people.expectTalking([])
      })

      test('while the agent consults: the agent and the colleague talk on', async () => {
        const [callId, consultation] = await people.consulting()
        await leave(callId)
        await people.inState(callId, ended)
        await people.expectTalking(['alice+bob'])
        await people.on.platform.hangup(people.leg(consultation))
        await people.inState(consultation, ended, people.on.bob)
        await people.expectTalking([])
      })
    })

    /** Bob rings for the customer, or for alice who consults him. */
    const transfers: Readonly<Record<string, (callId: CallId) => Promise<CallId>>> = {
      'a blind transfer': async (callId) => {
        await people.transfer(callId, people.on.bob)
        return callId
      },
      'a transfer at the phone': async (callId) => {
        phone('alice').transfer('8102')
        return callId
      },
      'an attended transfer': async (callId) => {
        const consultation = newCallId()
        await people.transfer(callId, people.on.bob, consultation)
        return consultation
      },
    }

    describe.each(Object.keys(transfers))('while the target of %s rings', (kind) => {
      test.each<[string, (ringsIn: CallId) => Promise<unknown> | void]>([
        ['declines by command', (ringsIn) => people.on.platform.hangup(people.leg(ringsIn, people.on.bob))],
        ['is unplugged', () => phone('bob').die()],
        ['is cut off by Asterisk', () => lab().endChannelOf('bob', '44')],
      ])('the target %s: the customer talks to the agent again', async (_way, fail) => {
        const callId = await people.answered()
        const ringsIn = (await transfers[kind]?.(callId)) ?? callId
        await people.inState(ringsIn, alerting, people.on.bob)
        await fail(ringsIn)
        await people.inState(ringsIn, ended, people.on.bob)
        await people.inState(callId, connected)
        await people.expectTalking(['alice+pstn'])
      })

      test.each(ways)(
        'the phone %s: the customer waits, and talks to the target who answers',
        async (_way, leave, reason) => {
          const callId = await people.answered()
          const ringsIn = await transfers[kind]?.(callId)
          await people.inState(ringsIn ?? callId, alerting, people.on.bob)
          await leave('alice')
          expect(await people.inState(callId, ended)).toMatchObject({ endReason: reason === 1 ? 9 : reason })
          await people.expectTalking([], ['pstn'])
          await people.inState(callId, alerting, people.on.bob)
          await people.answer(callId, people.on.bob)
          await people.expectTalking(['bob+pstn'])
        },
      )
    })
  })
})
