import { CallState, CommandNumber, TransferStatus } from '@switchhook/contracts'
import type { Fixture } from './fixture.ts'
import type { Harness } from './harness.ts'

const { alerting, connected, held, ended } = CallState

export function describeBlindTransfers(fixture: Fixture): void {
  describe('a blind transfer', () => {
    test('ends the leg with reason 9 when the target answers, and keeps the call id', async () => {
      const callId = await fixture.customerCall()
      await fixture.transfer(callId, fixture.bob)
      const targetsLeg = await fixture.untilState(callId, alerting, fixture.bob)
      expect(targetsLeg).toMatchObject({ role: 4, transfer: { role: 3 } })
      expect(fixture.latest(callId)?.state).toBe(held)
      await fixture.platform.answer(fixture.talk(callId, fixture.bob))
      expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason: 9, transfer: { status: 3 } })
      expect(fixture.latest(callId, fixture.bob)?.state).toBe(connected)
    })

    test.each<[string, (harness: Harness) => string, number]>([
      ['is busy', ({ addresses }) => addresses.busy, 2],
      ['is a bad address', ({ addresses }) => addresses.bad, 3],
      ['never answers', ({ addresses }) => addresses.neverAnswers, 4],
      ['is an agent who does not answer', ({ bob }) => bob, 4],
    ])('to a target that %s returns the call to the agent', async (_name, target, failReason) => {
      const callId = await fixture.customerCall()
      await fixture.transfer(callId, target(fixture.harness))
      await fixture.untilTransfer(callId, TransferStatus.failed)
      expect(fixture.latest(callId)).toMatchObject({ state: connected, transfer: { failReason } })
    })

    test('that fails returns on hold to an agent who talks in another call', async () => {
      const callId = await fixture.customerCall()
      const other = await fixture.harness.ring(fixture.alice)
      await fixture.transfer(callId, fixture.harness.addresses.neverAnswers)
      await fixture.platform.answer(fixture.talk(other))
      await fixture.untilState(other, connected)
      await fixture.untilTransfer(callId, TransferStatus.failed)
      expect(fixture.latest(callId)?.state).toBe(held)
      expect(fixture.latest(other)?.state).toBe(connected)
      await fixture.platform.resume(fixture.talk(callId, fixture.alice, [other]))
      await fixture.untilState(callId, connected)
      expect(fixture.latest(other)?.state).toBe(held)
    })

    test('to the other party of the call is reported as failed', async () => {
      const callId = await fixture.colleagueCall()
      await fixture.transfer(callId, fixture.bob)
      await fixture.harness.until(() => fixture.latest(callId)?.commandResult !== null)
      expect(fixture.latest(callId)).toMatchObject({
        state: connected,
        transfer: null,
        commandResult: { command: CommandNumber.transfer, result: 2 },
      })
    })

    test('of a colleague keeps the colleague in the call and reports the new remote party', async () => {
      const callId = await fixture.colleagueCall()
      const { carol } = fixture.harness
      await fixture.transfer(callId, carol)
      await fixture.untilState(callId, alerting, carol)
      expect(fixture.latest(callId, fixture.bob)).toMatchObject({ remoteHeld: true, transfer: { role: 2 } })
      await fixture.platform.answer(fixture.talk(callId, carol))
      await fixture.untilState(callId, ended)
      expect(fixture.latest(callId, fixture.bob)).toMatchObject({
        state: connected,
        remoteHeld: false,
        remoteParty: { uri: carol },
        transfer: { role: 2, status: 3 },
      })
    })

    test('to an agent who has left the call connects the customer under a new call id', async () => {
      const callId = await fixture.customerCall()
      await fixture.transfer(callId, fixture.bob)
      await fixture.answer(callId, fixture.bob)
      await fixture.untilState(callId, ended)
      await fixture.transfer(callId, fixture.alice, null, fixture.bob)
      const newId = await fixture.onlyCall(fixture.alice)
      expect(newId).not.toBe(callId)
      expect(fixture.latest(newId)?.transfer).toMatchObject({ role: 3, otherCallId: callId })
      await fixture.answer(newId)
      expect(await fixture.untilState(callId, ended, fixture.bob)).toMatchObject({ endReason: 9 })
      await fixture.harness.hangupRemotely(newId)
      await fixture.untilState(newId, ended)
    })

    test('of a colleague to an agent who has left the call moves the colleague to the new call', async () => {
      const callId = await fixture.colleagueCall(fixture.alice, fixture.bob)
      const { carol } = fixture.harness
      await fixture.transfer(callId, carol)
      await fixture.answer(callId, carol)
      await fixture.untilState(callId, ended)
      await fixture.transfer(callId, fixture.alice, null, carol)
      const newId = await fixture.onlyCall(fixture.alice)
      await fixture.answer(newId)
      expect(await fixture.untilState(callId, ended, fixture.bob)).toMatchObject({ endReason: 9 })
      const bobsLeg = await fixture.untilState(newId, connected, fixture.bob)
      expect(bobsLeg).toMatchObject({ remoteParty: { uri: fixture.alice } })
      await fixture.platform.hangup(fixture.leg(newId, fixture.bob))
      await fixture.untilState(newId, ended)
    })

    test('is cancelled by resume', async () => {
      const callId = await fixture.customerCall()
      await fixture.transfer(callId, fixture.bob)
      await fixture.untilState(callId, alerting, fixture.bob)
      await fixture.platform.resume(fixture.talk(callId))
      expect(await fixture.untilState(callId, connected)).toMatchObject({ transfer: { status: 5 } })
      expect(await fixture.untilState(callId, ended, fixture.bob)).toMatchObject({ endReason: 5 })
    })

    test('goes on without the agent who hangs up meanwhile', async () => {
      const callId = await fixture.customerCall()
      await fixture.transfer(callId, fixture.bob)
      await fixture.untilState(callId, alerting, fixture.bob)
      await fixture.platform.hangup(fixture.leg(callId))
      expect(await fixture.untilState(callId, ended)).toMatchObject({ endReason: 9 })
      await fixture.answer(callId, fixture.bob)
    })

    test('of a customer who holds: the new party is on hold until the customer resumes', async () => {
      const callId = await fixture.customerCall()
      await fixture.harness.holdRemotely(callId, true)
      await fixture.harness.until(() => fixture.latest(callId)?.remoteHeld === true)
      await fixture.transfer(callId, fixture.bob)
      await fixture.answer(callId, fixture.bob)
      expect(fixture.latest(callId, fixture.bob)).toMatchObject({ state: connected, remoteHeld: true })
      await fixture.harness.holdRemotely(callId, false)
      await fixture.harness.until(() => fixture.latest(callId, fixture.bob)?.remoteHeld === false)
    })

    test('of a colleague who holds leaves the colleague on hold with the new party', async () => {
      const callId = await fixture.colleagueCall()
      const { carol } = fixture.harness
      await fixture.platform.hold(fixture.leg(callId, fixture.bob))
      await fixture.untilState(callId, held, fixture.bob)
      await fixture.transfer(callId, carol)
      await fixture.answer(callId, carol)
      await fixture.untilState(callId, ended)
      expect(fixture.latest(callId, fixture.bob)).toMatchObject({ state: held, remoteParty: { uri: carol } })
      expect(fixture.latest(callId, carol)).toMatchObject({ state: connected, remoteHeld: true })
      await fixture.platform.resume(fixture.talk(callId, fixture.bob))
      await fixture.harness.until(() => fixture.latest(callId, carol)?.remoteHeld === false)
    })

    test('whose target fails after the agent has left calls the agent back, in a call with a new id', async () => {
      const callId = await fixture.customerCall()
      await fixture.transfer(callId, fixture.harness.addresses.neverAnswers)
      await fixture.untilTransfer(callId, TransferStatus.ringing)
      await fixture.platform.hangup(fixture.leg(callId))
      const newId = await fixture.onlyCall(fixture.alice)
      expect(fixture.latest(newId)).toMatchObject({
        state: alerting,
        role: 2,
        transfer: { role: 1, status: 4, failReason: 4, otherCallId: callId },
      })
      await fixture.answer(newId)
      expect(fixture.latest(newId)?.state).toBe(connected)
      await fixture.harness.hangupRemotely(newId)
      expect(await fixture.untilState(newId, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
    })

    test('whose target fails ends if the agent who has left does not answer either', async () => {
      const callId = await fixture.customerCall()
      await fixture.transfer(callId, fixture.bob)
      await fixture.untilState(callId, alerting, fixture.bob)
      await fixture.platform.hangup(fixture.leg(callId))
      await fixture.platform.hangup(fixture.leg(callId, fixture.bob))
      const newId = await fixture.onlyCall(fixture.alice)
      expect(await fixture.untilState(newId, ended)).toMatchObject({ endReason: 4, answeredAt: null })
    })

    test('is over when the customer hangs up', async () => {
      const callId = await fixture.customerCall()
      await fixture.transfer(callId, fixture.bob)
      await fixture.untilState(callId, alerting, fixture.bob)
      await fixture.harness.hangupRemotely(callId)
      const agentsLeg = await fixture.untilState(callId, ended)
      expect(agentsLeg).toMatchObject({ endReason: 1, endedBy: 2, transfer: { status: 5 } })
      expect(await fixture.untilState(callId, ended, fixture.bob)).toMatchObject({ endReason: 5 })
    })
  })
}
