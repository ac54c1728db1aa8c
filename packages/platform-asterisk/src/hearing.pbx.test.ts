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
