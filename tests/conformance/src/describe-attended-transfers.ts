import { CallState, CommandNumber, newCallId, TransferStatus } from '@switchhook/contracts'
import type { Fixture } from './fixture.ts'
import type { Harness } from './harness.ts'

const { alerting, proceeding, connected, held, ended } = CallState

export function describeAttendedTransfers(fixture: Fixture): void {
  describe('an attended transfer', () => {
    test('consults in a separate call, then connects the customer to the target', async () => {
      const [callId, consultation] = await fixture.consultation()
      const original = await fixture.untilState(callId, held)
      expect(original).toMatchObject({ consultation: { callId: consultation, target: fixture.bob } })
      expect(await fixture.untilState(consultation, alerting, fixture.bob)).toMatchObject({ role: 3 })
      await fixture.platform.answer(fixture.talk(consultation, fixture.bob))
      expect(await fixture.untilState(consultation, connected)).toMatchObject({ consultation: { forCallId: callId } })
      await fixture.platform.completeTransfer({ ...fixture.leg(callId), correlationId: null })
      expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason: 9, transfer: { status: 3 } })
      expect(await fixture.untilState(consultation, ended)).toMatchObject({ endReason: 9 })
      expect(await fixture.untilState(consultation, ended, fixture.bob)).toMatchObject({ endReason: 9 })
      const targetsLeg = await fixture.untilState(callId, connected, fixture.bob)
      expect(targetsLeg).toMatchObject({ role: 4, transfer: { role: 3, status: 3 } })
    })

    test.each(['original', 'consultation'] as const)('is completed by hanging up the %s leg', async (which) => {
      const [callId, consultation] = await fixture.answeredConsultation()
      await fixture.platform.hangup(fixture.leg(which === 'original' ? callId : consultation))
      expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason: 9 })
      await fixture.untilState(callId, connected, fixture.bob)
    })

    test.each(['alerting', 'connected'] as const)(
      'whose customer hangs up while the agent does, ends the consultation of a target who is %s',
      async (targets) => {
        const [callId, consultation] = await fixture.consultation()
        await fixture.untilState(consultation, alerting, fixture.bob)
        if (targets === 'connected') await fixture.answer(consultation, fixture.bob)
        await fixture.harness.hangupRemotely(callId)
        await fixture.untilState(callId, ended)
        const hangup = fixture.leg(callId)
        await fixture.platform.hangup(hangup)
        expect(await fixture.untilState(consultation, ended)).toMatchObject({ commandId: hangup.commandId })
        await fixture.untilState(consultation, ended, fixture.bob)
      },
    )

    test('whose customer hangs up while the agent completes it, reports the completion as failed', async () => {
      const [callId, consultation] = await fixture.answeredConsultation()
      await fixture.harness.hangupRemotely(callId)
      await fixture.untilState(callId, ended)
      const command = { ...fixture.leg(callId), correlationId: null }
      await fixture.platform.completeTransfer(command)
      await fixture.harness.until(() => fixture.latest(consultation)?.commandResult !== null)
      expect(fixture.latest(consultation)).toMatchObject({
        state: connected,
        commandResult: { commandId: command.commandId, command: CommandNumber.transfer, result: 2 },
      })
    })

    test('whose target holds the consultation leaves the customer on hold', async () => {
      const [callId, consultation] = await fixture.answeredConsultation()
      await fixture.platform.hold(fixture.leg(consultation, fixture.bob))
      await fixture.untilState(consultation, held, fixture.bob)
      await fixture.platform.completeTransfer({ ...fixture.leg(callId), correlationId: null })
      expect(await fixture.untilState(callId, held, fixture.bob)).toMatchObject({ held: true, remoteHeld: false })
      await fixture.platform.resume(fixture.talk(callId, fixture.bob))
      await fixture.untilState(callId, connected, fixture.bob)
    })

    test('that is completed while the target rings returns the call to the agent if the target does not answer', async () => {
      const [callId, consultation] = await fixture.consultation()
      await fixture.untilState(consultation, alerting, fixture.bob)
      await fixture.platform.completeTransfer({ ...fixture.leg(callId), correlationId: null })
      await fixture.untilState(callId, alerting, fixture.bob)
      expect(fixture.latest(callId)?.state).toBe(held)
      expect(fixture.latest(consultation)).toMatchObject({ state: ended, endReason: 9 })
      await fixture.untilTransfer(callId, TransferStatus.failed)
      expect(fixture.latest(callId)).toMatchObject({ state: connected })
    })

    test.each<[string, (harness: Harness) => string, number]>([
      ['is busy', ({ addresses }) => addresses.busy, 2],
      ['never answers', ({ addresses }) => addresses.neverAnswers, 4],
    ])('to a target that %s returns the call to the agent', async (_name, target, failReason) => {
      const [callId, consultation] = await fixture.consultation(target(fixture.harness))
      expect(await fixture.untilState(consultation, ended)).toMatchObject({ endReason: failReason })
      const returned = await fixture.untilState(callId, connected)
      expect(returned).toMatchObject({ transfer: { status: 4, failReason }, consultation: null })
    })

    test('whose target hangs up after answering returns the call to the agent', async () => {
      const [callId, consultation] = await fixture.answeredConsultation()
      await fixture.platform.hangup(fixture.leg(consultation, fixture.bob))
      expect(await fixture.untilState(consultation, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
      expect(await fixture.untilState(callId, connected)).toMatchObject({ transfer: { status: 5 } })
    })

    test('whose target hangs up returns on hold to an agent who talks in another call', async () => {
      const callId = await fixture.customerCall()
      const other = await fixture.harness.ring(fixture.alice)
      const consultation = newCallId()
      await fixture.transfer(callId, fixture.bob, consultation)
      await fixture.answer(consultation, fixture.bob)
      await fixture.untilState(consultation, connected)
      await fixture.platform.answer(fixture.talk(other, fixture.alice, [consultation]))
      await fixture.untilState(other, connected)
      await fixture.platform.hangup(fixture.leg(consultation, fixture.bob))
      await fixture.untilTransfer(callId, TransferStatus.cancelled)
      expect(fixture.latest(callId)).toMatchObject({ state: held, consultation: null })
      expect(fixture.latest(other)?.state).toBe(connected)
    })

    test('is cancelled by resume', async () => {
      const [callId, consultation] = await fixture.consultation(fixture.harness.addresses.neverAnswers)
      await fixture.untilState(consultation, proceeding)
      await fixture.platform.resume(fixture.talk(callId))
      expect(await fixture.untilState(consultation, ended)).toMatchObject({ endReason: 5 })
      expect(await fixture.untilState(callId, connected)).toMatchObject({ transfer: { status: 5 }, consultation: null })
    })

    test('whose customer hangs up leaves the consultation as an ordinary call', async () => {
      const [callId, consultation] = await fixture.consultation(fixture.harness.addresses.answers)
      await fixture.untilState(consultation, connected)
      await fixture.harness.hangupRemotely(callId)
      expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
      expect(fixture.latest(consultation)).toMatchObject({ state: connected, consultation: null })
    })

    test("is completed without the agent if the agent's device goes offline", async () => {
      const [callId] = await fixture.answeredConsultation()
      await fixture.harness.setDevice(fixture.alice, false)
      expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason: 10 })
      await fixture.untilState(callId, connected, fixture.bob)
    })
  })
}
