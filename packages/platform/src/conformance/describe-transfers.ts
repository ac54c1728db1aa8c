import { CallState, TransferStatus } from '@switchhook/contracts'
import type { Stage } from './fixture.ts'
import type { Harness } from './harness.ts'

const { alerting, proceeding, connected, held, ended } = CallState

/** Both kinds of transfer, and every way in which they fail. */
export function describeTransfers(stage: Stage): void {
  describe('a blind transfer', () => {
    test('ends the leg with reason 9 when the target answers, under the same call id', async () => {
      const callId = await stage.customer()
      await stage.transfer(callId, stage.on.bob, null)
      expect(await stage.inState(callId, alerting, stage.on.bob)).toMatchObject({ role: 4, transfer: { role: 3 } })
      expect(stage.observer.latest(callId, stage.on.alice)?.state).toBe(held)
      await stage.platform.answer(stage.talk(callId, stage.on.bob))
      expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 9, transfer: { status: 3 } })
      expect(stage.observer.latest(callId, stage.on.bob)?.state).toBe(connected)
    })

    test.each<[string, (harness: Harness) => string, number]>([
      ['is busy', ({ addresses }) => addresses.busy, 2],
      ['is a bad address', ({ addresses }) => addresses.bad, 3],
      ['never answers', ({ addresses }) => addresses.neverAnswers, 4],
      ['is an agent who does not answer', ({ bob }) => bob, 4],
    ])('to a target that %s brings the customer back', async (_name, target, failReason) => {
      const callId = await stage.customer()
      await stage.transfer(callId, target(stage.on), null)
      await stage.on.until(
        () => stage.observer.latest(callId, stage.on.alice)?.transfer?.status === TransferStatus.failed,
      )
      expect(stage.observer.latest(callId, stage.on.alice)).toMatchObject({
        state: connected,
        transfer: { failReason },
      })
    })

    test('of a colleague: the colleague stays in the call, and learns whom it is with now', async () => {
      const callId = await stage.dial(stage.on.bob)
      await stage.inState(callId, alerting, stage.on.bob)
      await stage.platform.answer(stage.talk(callId, stage.on.bob))
      await stage.inState(callId, connected)
      await stage.transfer(callId, stage.on.carol, null)
      await stage.inState(callId, alerting, stage.on.carol)
      expect(stage.observer.latest(callId, stage.on.bob)).toMatchObject({ remoteHeld: true, transfer: { role: 2 } })
      await stage.platform.answer(stage.talk(callId, stage.on.carol))
      await stage.inState(callId, ended)
      expect(stage.observer.latest(callId, stage.on.bob)).toMatchObject({
        state: connected,
        remoteHeld: false,
        remoteParty: { uri: stage.on.carol },
        transfer: { role: 2, status: 3 },
      })
    })

    test('back to an agent who has left the call gives that agent the customer under a new id', async () => {
      const callId = await stage.customer()
      await stage.transfer(callId, stage.on.bob, null)
      await stage.inState(callId, alerting, stage.on.bob)
      await stage.platform.answer(stage.talk(callId, stage.on.bob))
      await stage.inState(callId, ended)
      await stage.platform.transfer({
        ...stage.leg(callId, stage.on.bob),
        target: stage.on.alice,
        correlationId: null,
        consultationCallId: null,
      })
      await stage.on.until(() => stage.observer.liveCalls(stage.on.alice).length === 1)
      const [newId] = stage.observer.liveCalls(stage.on.alice)
      if (newId === undefined) throw new Error('alice is rung')
      expect(newId).not.toBe(callId)
      expect(stage.observer.latest(newId, stage.on.alice)?.transfer).toMatchObject({ role: 3, otherCallId: callId })
      await stage.platform.answer(stage.talk(newId, stage.on.alice))
      await stage.inState(newId, connected)
      expect(await stage.inState(callId, ended, stage.on.bob)).toMatchObject({ endReason: 9 })
      await stage.on.hangupRemotely(newId)
      await stage.inState(newId, ended)
    })

    test('of a colleague back to an agent who has left takes the colleague along into the new call', async () => {
      const callId = await stage.dial(stage.on.alice, stage.on.bob)
      await stage.inState(callId, alerting)
      await stage.platform.answer(stage.talk(callId))
      await stage.inState(callId, connected)
      await stage.transfer(callId, stage.on.carol, null)
      await stage.inState(callId, alerting, stage.on.carol)
      await stage.platform.answer(stage.talk(callId, stage.on.carol))
      await stage.inState(callId, ended)
      const back = { target: stage.on.alice, correlationId: null, consultationCallId: null }
      await stage.platform.transfer({ ...stage.leg(callId, stage.on.carol), ...back })
      await stage.on.until(() => stage.observer.liveCalls(stage.on.alice).length === 1)
      const [newId] = stage.observer.liveCalls(stage.on.alice)
      if (newId === undefined) throw new Error('alice is rung')
      await stage.platform.answer(stage.talk(newId))
      await stage.inState(newId, connected)
      expect(await stage.inState(callId, ended, stage.on.bob)).toMatchObject({ endReason: 9 })
      expect(await stage.inState(newId, connected, stage.on.bob)).toMatchObject({
        remoteParty: { uri: stage.on.alice },
      })
      await stage.platform.hangup(stage.leg(newId, stage.on.bob))
      await stage.inState(newId, ended)
    })

    test('is cancelled by resume', async () => {
      const callId = await stage.customer()
      await stage.transfer(callId, stage.on.bob, null)
      await stage.inState(callId, alerting, stage.on.bob)
      await stage.platform.resume(stage.talk(callId))
      expect(await stage.inState(callId, connected)).toMatchObject({ transfer: { status: 5 } })
      expect(await stage.inState(callId, ended, stage.on.bob)).toMatchObject({ endReason: 5 })
    })

    test('goes on without the agent who hangs up meanwhile', async () => {
      const callId = await stage.customer()
      await stage.transfer(callId, stage.on.bob, null)
      await stage.inState(callId, alerting, stage.on.bob)
      await stage.platform.hangup(stage.leg(callId))
      expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 9 })
      await stage.platform.answer(stage.talk(callId, stage.on.bob))
      await stage.inState(callId, connected, stage.on.bob)
    })

    test('is over when the customer hangs up', async () => {
      const callId = await stage.customer()
      await stage.transfer(callId, stage.on.bob, null)
      await stage.inState(callId, alerting, stage.on.bob)
      await stage.on.hangupRemotely(callId)
      expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2, transfer: { status: 5 } })
      expect(await stage.inState(callId, ended, stage.on.bob)).toMatchObject({ endReason: 5 })
    })
  })

  describe('an attended transfer', () => {
    test('consults in a call of its own, and hands the customer over', async () => {
      const [callId, consultation] = await stage.consulting()
      expect(await stage.inState(callId, held)).toMatchObject({
        consultation: { callId: consultation, target: stage.on.bob },
      })
      expect(await stage.inState(consultation, alerting, stage.on.bob)).toMatchObject({ role: 3 })
      await stage.platform.answer(stage.talk(consultation, stage.on.bob))
      expect(await stage.inState(consultation, connected)).toMatchObject({ consultation: { forCallId: callId } })
      await stage.platform.completeTransfer(stage.leg(callId))
      expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 9, transfer: { status: 3 } })
      expect(await stage.inState(consultation, ended)).toMatchObject({ endReason: 9 })
      expect(await stage.inState(consultation, ended, stage.on.bob)).toMatchObject({ endReason: 9 })
      expect(await stage.inState(callId, connected, stage.on.bob)).toMatchObject({
        role: 4,
        transfer: { role: 3, status: 3 },
      })
    })

    test.each(['original', 'consultation'] as const)('is completed by hanging up the %s leg', async (which) => {
      const [callId, consultation] = await stage.consulting()
      await stage.inState(consultation, alerting, stage.on.bob)
      await stage.platform.answer(stage.talk(consultation, stage.on.bob))
      await stage.inState(consultation, connected)
      await stage.platform.hangup(stage.leg(which === 'original' ? callId : consultation))
      expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 9 })
      await stage.inState(callId, connected, stage.on.bob)
    })

    test('completed while the target rings keeps the customer, whatever the target does', async () => {
      const [callId, consultation] = await stage.consulting()
      await stage.inState(consultation, alerting, stage.on.bob)
      await stage.platform.completeTransfer(stage.leg(callId))
      await stage.inState(callId, alerting, stage.on.bob)
      expect(stage.observer.latest(callId, stage.on.alice)?.state).toBe(held)
      expect(stage.observer.latest(consultation, stage.on.alice)).toMatchObject({ state: ended, endReason: 9 })
      await stage.on.until(
        () => stage.observer.latest(callId, stage.on.alice)?.transfer?.status === TransferStatus.failed,
      )
      expect(stage.observer.latest(callId, stage.on.alice)).toMatchObject({ state: connected })
    })

    test.each<[string, (harness: Harness) => string, number]>([
      ['is busy', ({ addresses }) => addresses.busy, 2],
      ['never answers', ({ addresses }) => addresses.neverAnswers, 4],
    ])('to a target that %s brings the customer back', async (_name, target, failReason) => {
      const [callId, consultation] = await stage.consulting(target(stage.on))
      expect(await stage.inState(consultation, ended)).toMatchObject({ endReason: failReason })
      expect(await stage.inState(callId, connected)).toMatchObject({
        transfer: { status: 4, failReason },
        consultation: null,
      })
    })

    test('whose target hangs up after answering brings the customer back', async () => {
      const [callId, consultation] = await stage.consulting()
      await stage.inState(consultation, alerting, stage.on.bob)
      await stage.platform.answer(stage.talk(consultation, stage.on.bob))
      await stage.inState(consultation, connected)
      await stage.platform.hangup(stage.leg(consultation, stage.on.bob))
      expect(await stage.inState(consultation, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
      expect(await stage.inState(callId, connected)).toMatchObject({ transfer: { status: 5 } })
    })

    test('is cancelled by resume', async () => {
      const [callId, consultation] = await stage.consulting(stage.on.addresses.neverAnswers)
      await stage.inState(consultation, proceeding)
      await stage.platform.resume(stage.talk(callId))
      expect(await stage.inState(consultation, ended)).toMatchObject({ endReason: 5 })
      expect(await stage.inState(callId, connected)).toMatchObject({ transfer: { status: 5 }, consultation: null })
    })

    test('whose customer hangs up leaves an ordinary call', async () => {
      const [callId, consultation] = await stage.consulting(stage.on.addresses.answers)
      await stage.inState(consultation, connected)
      await stage.on.hangupRemotely(callId)
      expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
      expect(stage.observer.latest(consultation, stage.on.alice)).toMatchObject({
        state: connected,
        consultation: null,
      })
    })

    test('whose agent loses the device goes on without the agent', async () => {
      const [callId, consultation] = await stage.consulting()
      await stage.inState(consultation, alerting, stage.on.bob)
      await stage.platform.answer(stage.talk(consultation, stage.on.bob))
      await stage.inState(consultation, connected)
      await stage.on.setDevice(stage.on.alice, false)
      expect(await stage.inState(callId, ended)).toMatchObject({ endReason: 10 })
      await stage.inState(callId, connected, stage.on.bob)
    })
  })
}
