import { type CallId, CallState, newCallId } from '@switchhook/contracts'
import { describeWithAsterisk } from './testing/asterisk-lab.ts'
import { People } from './testing/people.ts'

const { alerting, connected, held, ended } = CallState

/** Longer than a phone may be away before it counts as lost. */
const RING_SECONDS = 10

describeWithAsterisk('who hears whom on a real Asterisk, within 300 ms of the state that says so', (lab) => {
  const people = new People(lab)
  beforeEach(() => people.open('talk', RING_SECONDS))
  afterEach(() => people.close())
  const phone = (name: string) => people.phone(name)

  describe('by command', () => {
    test('hold and resume', async () => {
      const callId = await people.answered()
      await people.expectTalking(['alice+pstn'])
      await people.on.platform.hold(people.leg(callId))
      await people.inState(callId, held)
      await people.expectTalking(['alice'], ['pstn'])
      await people.on.platform.resume({ ...people.leg(callId), holdFirst: [] })
      await people.inState(callId, connected)
      await people.expectTalking(['alice+pstn'])
    })

    test('both parties hold, and resume', async () => {
      const callId = newCallId()
      await people.on.platform.dial({
        ...people.leg(callId),
        destination: people.on.bob,
        cli: null,
        correlationId: null,
      })
      await people.inState(callId, alerting, people.on.bob)
      phone('bob').answer()
      await people.inState(callId, connected, people.on.bob)
      await people.expectTalking(['alice+bob'])
      const { alice, bob } = people.on
      for (const agentUri of [alice, bob]) await people.on.platform.hold(people.leg(callId, agentUri))
      await people.inState(callId, held, bob)
      await people.expectTalking([], ['alice+bob'])
      for (const agentUri of [alice, bob]) {
        await people.on.platform.resume({ ...people.leg(callId, agentUri), holdFirst: [] })
      }
      await people.inState(callId, connected, bob)
      await people.expectTalking(['alice+bob'])
    })

    test.each<[string, (call: { callId: CallId; consultation: CallId }) => Promise<unknown>]>([
      [
        'completed by command',
        ({ callId }) => people.on.platform.completeTransfer({ ...people.leg(callId), correlationId: null }),
      ],
      [
        'completed by hangup of the consultation',
        ({ consultation }) => people.on.platform.hangup(people.leg(consultation)),
      ],
      ['completed by hangup of the call', ({ callId }) => people.on.platform.hangup(people.leg(callId))],
    ])('an attended transfer, %s', async (_name, complete) => {
      const [callId, consultation] = await people.consulting()
      await people.expectTalking(['alice+bob'], ['pstn'])
      await complete({ callId, consultation })
      await people.inState(callId, connected, people.on.bob)
      await people.expectTalking(['bob+pstn'])
      await people.inState(callId, ended)
    })
  })

  /** How an attended transfer ends without its target, and who is in the call with the customer then. */
  test.each<[string, (callId: CallId, consultation: CallId) => Promise<unknown>]>([
    ['cancelled', (callId) => people.on.platform.resume({ ...people.leg(callId), holdFirst: [] })],
    ['left by the target', async () => phone('bob').hangup()],
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
    await people.expectTalking(['alice'], ['pstn'])
    phone('bob').answer()
    await people.inState(callId, connected, people.on.bob)
    await people.expectTalking(['bob+pstn'])
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

  test('a second call is answered, and the first one resumed', async () => {
    const first = await people.answered()
    const second = await people.on.ring(people.on.alice)
    await people.inState(second, alerting)
    await people.on.platform.answer({ ...people.leg(second), holdFirst: [first] })
    await people.inState(second, connected)
    await people.expectTalking(['alice', 'alice+pstn'], ['pstn'])
    await people.on.platform.resume({ ...people.leg(first), holdFirst: [second] })
    await people.inState(first, connected)
    await people.expectTalking(['alice', 'alice+pstn'], ['pstn'])
  })

  describe('at the phone', () => {
    test('hold and resume', async () => {
      const callId = await people.answered()
      await phone('alice').hold(true)
      await people.inState(callId, held)
      await people.expectTalking(['alice'], ['pstn'])
      await phone('alice').hold(false)
      await people.inState(callId, connected)
      await people.expectTalking(['alice+pstn'])
    })

    test('an attended transfer with the keys of the phone', async () => {
      const callId = await people.answered()
      await phone('alice').hold(true)
      phone('alice').dial('8102')
      await people.on.until(() => people.observer.liveCalls(people.on.bob).length === 1)
      const [consultation = callId] = people.observer.liveCalls(people.on.bob)
      phone('bob').answer()
      await people.inState(consultation, connected)
      phone('alice').joinCalls()
      await people.inState(callId, connected, people.on.bob)
      await people.expectTalking(['bob+pstn'])
    })

    test('hanging up in an attended transfer, after the answer', async () => {
      const [callId] = await people.consulting()
      phone('alice').hangup()
      await people.inState(callId, connected, people.on.bob)
      await people.expectTalking(['bob+pstn'])
    })
  })

  test('on a line that is open all day: hold and resume', async () => {
    await people.close()
    await people.open('connected', RING_SECONDS)
    const callId = await people.ringing()
    await people.on.platform.answer({ ...people.leg(callId), holdFirst: [] })
    await people.inState(callId, connected)
    await people.expectTalking(['alice+pstn'])
    const holdAndResume = async (): Promise<void> => {
      await people.on.platform.hold(people.leg(callId))
      await people.inState(callId, held)
      await people.expectTalking([], ['pstn'])
      await people.on.platform.resume({ ...people.leg(callId), holdFirst: [] })
      await people.inState(callId, connected)
      await people.expectTalking(['alice+pstn'])
    }
    await holdAndResume()
    await holdAndResume()
    const [customer] = await lab().world().channels()
    await lab()
      .world()
      .sendTone(customer?.id ?? '')
    await people.expectAudible('alice')
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
    const begin = async (): Promise<CallId> => {
      const callId = await people.answered()
      const ringsIn = await transfers[kind]?.(callId)
      await people.inState(ringsIn ?? callId, alerting, people.on.bob)
      return callId
    }

    test('the phone hangs up: the customer waits, and talks to the target who answers', async () => {
      const callId = await begin()
      phone('alice').hangup()
      await people.inState(callId, ended)
      await people.expectTalking([], ['pstn'])
      await people.inState(callId, alerting, people.on.bob)
      phone('bob').answer()
      await people.inState(callId, connected, people.on.bob)
      await people.expectTalking(['bob+pstn'])
    })

    test('the phone is unplugged: the customer waits, and talks to the target who answers', async () => {
      const callId = await begin()
      phone('alice').die()
      expect(await people.inState(callId, ended)).toMatchObject({ endReason: 10 })
      await people.expectTalking([], ['pstn'])
      await people.inState(callId, alerting, people.on.bob)
      phone('bob').answer()
      await people.inState(callId, connected, people.on.bob)
      await people.expectTalking(['bob+pstn'])
    })

    test('Asterisk ends the channel of the agent: the customer waits, and talks to the target who answers', async () => {
      const callId = await begin()
      await lab().endChannelOf('alice', '44')
      expect(await people.inState(callId, ended)).toMatchObject({ endReason: 10 })
      await people.inState(callId, alerting, people.on.bob)
      phone('bob').answer()
      await people.inState(callId, connected, people.on.bob)
      await people.expectTalking(['bob+pstn'])
    })
  })
})
