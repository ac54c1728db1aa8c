import { type CallId, CallState, type CallStatus, newCallId, newCommandId, TransferStatus } from '@switchhook/contracts'
import { type Platform, PlatformUnavailable } from '../platform.ts'
import { createObserver, type Observer } from './observer.ts'

/** A platform, and a hand on the world around it. */
export interface Harness {
  readonly platform: Platform
  /** Agents of one tenant. */
  readonly tenant: string | null
  readonly alice: string
  readonly bob: string
  readonly carol: string
  readonly addresses: {
    readonly answers: string
    readonly busy: string
    readonly neverAnswers: string
    readonly bad: string
  }
  /** Lets time pass, in whatever way is quickest, until it is so. */
  readonly until: (isSo: () => boolean) => Promise<void>
  /** Somebody outside calls an agent. */
  readonly ring: (agentUri: string) => Promise<CallId>
  readonly hangupRemotely: (callId: CallId) => Promise<void>
  readonly setDevice: (agentUri: string, online: boolean) => Promise<void>
  /** The platform's memory, or the way to it, goes away and comes back. */
  readonly cutOff: (isCut: boolean) => void
  /** The process that talks to the platform dies, and another one begins. */
  readonly restart: (observer: Observer) => Promise<Platform>
}

const { initiated, alerting, proceeding, connected, held, ended } = CallState

/** What every platform must do: each adapter's tests call this with a harness of its own. */
export function describePlatform(name: string, open: (observer: Observer) => Promise<Harness>): void {
  describe(`the platform ${name}`, () => {
    let observer: Observer
    let on: Harness
    let platform: Platform

    beforeEach(async () => {
      observer = createObserver()
      on = await open(observer)
      platform = on.platform
      await platform.start(observer.listener)
    })

    afterEach(async () => {
      await platform.stop()
      observer.verify()
    })

    const leg = (callId: CallId, agentUri = on.alice) => ({
      tenant: on.tenant,
      callId,
      agentUri,
      commandId: newCommandId(),
    })
    const talk = (callId: CallId, agentUri = on.alice, holdFirst: readonly CallId[] = []) => ({
      ...leg(callId, agentUri),
      holdFirst,
    })
    const states = (callId: CallId, agentUri = on.alice): number[] =>
      observer.eventsOf(callId, agentUri).map(({ state }) => state)

    async function inState(callId: CallId, state: CallState, agentUri = on.alice): Promise<CallStatus> {
      await on.until(() => observer.latest(callId, agentUri)?.state === state)
      const status = observer.latest(callId, agentUri)
      if (status === undefined) throw new Error('it is there')
      return status
    }

    async function dial(destination: string, agentUri = on.alice, callId = newCallId()): Promise<CallId> {
      await platform.dial({ ...leg(callId, agentUri), destination, cli: '+15550199', correlationId: 'crm-1' })
      return callId
    }

    /** A customer whom alice talks to. */
    async function customer(): Promise<CallId> {
      const callId = await on.ring(on.alice)
      await inState(callId, alerting)
      await platform.answer(talk(callId))
      await inState(callId, connected)
      return callId
    }

    async function transfer(callId: CallId, target: string, consultationCallId: CallId | null): Promise<void> {
      await platform.transfer({ ...leg(callId), target, correlationId: null, consultationCallId })
    }

    test('an outbound call rings, is answered, held, resumed and hung up', async () => {
      const callId = await dial(on.addresses.answers)
      await inState(callId, connected)
      await platform.hold(leg(callId))
      await inState(callId, held)
      await platform.resume(talk(callId))
      await inState(callId, connected)
      const hangup = leg(callId)
      await platform.hangup(hangup)
      expect(await inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 1, commandId: hangup.commandId })
      expect(states(callId)).toEqual([initiated, proceeding, connected, held, connected, ended])
      expect(observer.latest(callId, on.alice)).toMatchObject({
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
      const callId = await dial(on.addresses[address])
      expect(await inState(callId, ended)).toMatchObject({ endReason, answeredAt: null })
    })

    test('an inbound call is answered, and ends when the caller hangs up', async () => {
      const callId = await customer()
      await on.hangupRemotely(callId)
      expect(await inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2, direction: 1 })
      expect(states(callId)).toEqual([alerting, connected, ended])
    })

    test('a call that is declined was rejected, one that is hung up before the answer cancelled', async () => {
      const declined = await on.ring(on.alice)
      await inState(declined, alerting)
      await platform.hangup(leg(declined))
      expect(await inState(declined, ended)).toMatchObject({ endReason: 6, endedBy: 1 })
      const cancelled = await dial(on.addresses.neverAnswers)
      await inState(cancelled, proceeding)
      await platform.hangup(leg(cancelled))
      expect(await inState(cancelled, ended)).toMatchObject({ endReason: 5, endedBy: 1 })
    })

    test('a call between agents has two legs that tell of each other', async () => {
      const callId = await dial(on.bob)
      expect(await inState(callId, alerting, on.bob)).toMatchObject({ internal: true, remoteParty: { uri: on.alice } })
      await platform.answer(talk(callId, on.bob))
      await inState(callId, connected)
      await platform.hold(leg(callId))
      await on.until(() => observer.latest(callId, on.bob)?.remoteHeld === true)
      await platform.hangup(leg(callId, on.bob))
      expect(await inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
      expect(await inState(callId, ended, on.bob)).toMatchObject({ endReason: 1, endedBy: 1 })
    })

    test('answering a second call holds the first one before', async () => {
      const first = await customer()
      const second = await on.ring(on.alice)
      await inState(second, alerting)
      await platform.answer(talk(second, on.alice, [first]))
      await inState(second, connected)
      await inState(first, held)
      const order = observer.reports().filter(({ state }) => state === held || state === connected)
      expect(order.slice(-2).map(({ callId }) => callId)).toEqual([first, second])
    })

    test('the same callId dialled twice is one call, and the same command given twice does no more', async () => {
      const callId = await dial(on.addresses.answers)
      await dial(on.addresses.answers, on.alice, callId)
      await inState(callId, connected)
      const hold = leg(callId)
      await platform.hold(hold)
      await platform.resume(talk(callId))
      await platform.hold(hold)
      await inState(callId, connected)
      expect(states(callId)).toEqual([initiated, proceeding, connected, held, connected])
    })

    test('commands on a leg that has ended do nothing', async () => {
      const callId = await dial(on.addresses.busy)
      await inState(callId, ended)
      await platform.hangup(leg(callId))
      await platform.hold(leg(callId))
      await platform.answer(talk(callId))
      expect(states(callId)).toEqual([initiated, ended])
    })

    test('a command that does not fit any more is told to have come to nothing', async () => {
      const callId = await dial(on.addresses.neverAnswers)
      await inState(callId, proceeding)
      const hold = leg(callId)
      await platform.hold(hold)
      await on.until(() => observer.latest(callId, on.alice)?.commandResult !== null)
      expect(observer.latest(callId, on.alice)).toMatchObject({
        state: proceeding,
        commandResult: { commandId: hold.commandId, command: 'hold', result: 2 },
      })
    })

    test('looking a call up says what was told', async () => {
      const callId = await dial(on.bob)
      await inState(callId, alerting, on.bob)
      const found = await platform.lookUp(on.tenant, callId)
      expect(found.map(({ agentUri, state }) => [agentUri, state]).toSorted()).toEqual(
        [
          [on.alice, proceeding],
          [on.bob, alerting],
        ].toSorted(),
      )
      expect(await platform.lookUp(on.tenant, newCallId())).toEqual([])
    })

    test('agents exist for their tenant alone', async () => {
      expect(await platform.findAgent(on.tenant, on.alice)).toMatchObject({ agentUri: on.alice, tenant: on.tenant })
      expect(await platform.findAgent(on.tenant, 'sip:nobody@nowhere.example')).toBeUndefined()
      expect(await platform.findAgent('another tenant', on.alice)).toBeUndefined()
    })

    test('a device that goes away ends its calls, and is told to be away and back', async () => {
      const callId = await customer()
      await on.setDevice(on.alice, false)
      expect(await inState(callId, ended)).toMatchObject({ endReason: 10 })
      await on.setDevice(on.alice, true)
      await on.until(() => observer.devices().length >= 2)
      expect(observer.devices().map(({ online }) => online)).toEqual([false, true])
    })

    describe('a blind transfer', () => {
      test('ends the leg with reason 9 when the target answers, under the same call id', async () => {
        const callId = await customer()
        await transfer(callId, on.bob, null)
        expect(await inState(callId, alerting, on.bob)).toMatchObject({ role: 4, transfer: { role: 3 } })
        expect(observer.latest(callId, on.alice)?.state).toBe(held)
        await platform.answer(talk(callId, on.bob))
        expect(await inState(callId, ended)).toMatchObject({ endReason: 9, transfer: { status: 3 } })
        expect(observer.latest(callId, on.bob)?.state).toBe(connected)
      })

      test.each<[string, (harness: Harness) => string, number]>([
        ['is busy', ({ addresses }) => addresses.busy, 2],
        ['is a bad address', ({ addresses }) => addresses.bad, 3],
        ['never answers', ({ addresses }) => addresses.neverAnswers, 4],
        ['is an agent who does not answer', ({ bob }) => bob, 4],
      ])('to a target that %s brings the customer back', async (_name, target, failReason) => {
        const callId = await customer()
        await transfer(callId, target(on), null)
        await on.until(() => observer.latest(callId, on.alice)?.transfer?.status === TransferStatus.failed)
        expect(observer.latest(callId, on.alice)).toMatchObject({ state: connected, transfer: { failReason } })
      })

      test('of a colleague: the colleague stays in the call, and learns whom it is with now', async () => {
        const callId = await dial(on.bob)
        await inState(callId, alerting, on.bob)
        await platform.answer(talk(callId, on.bob))
        await inState(callId, connected)
        await transfer(callId, on.carol, null)
        await inState(callId, alerting, on.carol)
        expect(observer.latest(callId, on.bob)).toMatchObject({ remoteHeld: true, transfer: { role: 2 } })
        await platform.answer(talk(callId, on.carol))
        await inState(callId, ended)
        expect(observer.latest(callId, on.bob)).toMatchObject({
          state: connected,
          remoteHeld: false,
          remoteParty: { uri: on.carol },
          transfer: { role: 2, status: 3 },
        })
      })

      test('back to an agent who has left the call gives that agent the customer under a new id', async () => {
        const callId = await customer()
        await transfer(callId, on.bob, null)
        await inState(callId, alerting, on.bob)
        await platform.answer(talk(callId, on.bob))
        await inState(callId, ended)
        await platform.transfer({
          ...leg(callId, on.bob),
          target: on.alice,
          correlationId: null,
          consultationCallId: null,
        })
        await on.until(() => observer.liveCalls(on.alice).length === 1)
        const [newId] = observer.liveCalls(on.alice)
        if (newId === undefined) throw new Error('alice is rung')
        expect(newId).not.toBe(callId)
        await platform.answer(talk(newId, on.alice))
        await inState(newId, connected)
        expect(await inState(callId, ended, on.bob)).toMatchObject({ endReason: 9 })
        await on.hangupRemotely(newId)
        await inState(newId, ended)
      })

      test('is cancelled by resume', async () => {
        const callId = await customer()
        await transfer(callId, on.bob, null)
        await inState(callId, alerting, on.bob)
        await platform.resume(talk(callId))
        expect(await inState(callId, connected)).toMatchObject({ transfer: { status: 5 } })
        expect(await inState(callId, ended, on.bob)).toMatchObject({ endReason: 5 })
      })

      test('goes on without the agent who hangs up meanwhile', async () => {
        const callId = await customer()
        await transfer(callId, on.bob, null)
        await inState(callId, alerting, on.bob)
        await platform.hangup(leg(callId))
        expect(await inState(callId, ended)).toMatchObject({ endReason: 9 })
        await platform.answer(talk(callId, on.bob))
        await inState(callId, connected, on.bob)
      })

      test('is over when the customer hangs up', async () => {
        const callId = await customer()
        await transfer(callId, on.bob, null)
        await inState(callId, alerting, on.bob)
        await on.hangupRemotely(callId)
        expect(await inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2, transfer: { status: 5 } })
        expect(await inState(callId, ended, on.bob)).toMatchObject({ endReason: 5 })
      })
    })

    describe('an attended transfer', () => {
      async function consulting(target = on.bob): Promise<readonly [CallId, CallId]> {
        const [callId, consultation] = [await customer(), newCallId()]
        await transfer(callId, target, consultation)
        return [callId, consultation]
      }

      test('consults in a call of its own, and hands the customer over', async () => {
        const [callId, consultation] = await consulting()
        expect(await inState(callId, held)).toMatchObject({ consultation: { callId: consultation, target: on.bob } })
        expect(await inState(consultation, alerting, on.bob)).toMatchObject({ role: 3 })
        await platform.answer(talk(consultation, on.bob))
        expect(await inState(consultation, connected)).toMatchObject({ consultation: { forCallId: callId } })
        await platform.completeTransfer(leg(callId))
        expect(await inState(callId, ended)).toMatchObject({ endReason: 9, transfer: { status: 3 } })
        expect(await inState(consultation, ended)).toMatchObject({ endReason: 9 })
        expect(await inState(consultation, ended, on.bob)).toMatchObject({ endReason: 9 })
        expect(await inState(callId, connected, on.bob)).toMatchObject({ role: 4, transfer: { role: 3, status: 3 } })
      })

      test.each(['original', 'consultation'] as const)('is completed by hanging up the %s leg', async (which) => {
        const [callId, consultation] = await consulting()
        await inState(consultation, alerting, on.bob)
        await platform.answer(talk(consultation, on.bob))
        await inState(consultation, connected)
        await platform.hangup(leg(which === 'original' ? callId : consultation))
        expect(await inState(callId, ended)).toMatchObject({ endReason: 9 })
        await inState(callId, connected, on.bob)
      })

      test('completed while the target rings keeps the customer, whatever the target does', async () => {
        const [callId, consultation] = await consulting()
        await inState(consultation, alerting, on.bob)
        await platform.completeTransfer(leg(callId))
        await inState(callId, alerting, on.bob)
        expect(observer.latest(callId, on.alice)?.state).toBe(held)
        expect(observer.latest(consultation, on.alice)).toMatchObject({ state: ended, endReason: 9 })
        await on.until(() => observer.latest(callId, on.alice)?.transfer?.status === TransferStatus.failed)
        expect(observer.latest(callId, on.alice)).toMatchObject({ state: connected })
      })

      test.each<[string, (harness: Harness) => string, number]>([
        ['is busy', ({ addresses }) => addresses.busy, 2],
        ['never answers', ({ addresses }) => addresses.neverAnswers, 4],
      ])('to a target that %s brings the customer back', async (_name, target, failReason) => {
        const [callId, consultation] = await consulting(target(on))
        expect(await inState(consultation, ended)).toMatchObject({ endReason: failReason })
        expect(await inState(callId, connected)).toMatchObject({
          transfer: { status: 4, failReason },
          consultation: null,
        })
      })

      test('whose target hangs up after answering brings the customer back', async () => {
        const [callId, consultation] = await consulting()
        await inState(consultation, alerting, on.bob)
        await platform.answer(talk(consultation, on.bob))
        await inState(consultation, connected)
        await platform.hangup(leg(consultation, on.bob))
        expect(await inState(consultation, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
        expect(await inState(callId, connected)).toMatchObject({ transfer: { status: 5 } })
      })

      test('is cancelled by resume', async () => {
        const [callId, consultation] = await consulting(on.addresses.neverAnswers)
        await inState(consultation, proceeding)
        await platform.resume(talk(callId))
        expect(await inState(consultation, ended)).toMatchObject({ endReason: 5 })
        expect(await inState(callId, connected)).toMatchObject({ transfer: { status: 5 }, consultation: null })
      })

      test('whose customer hangs up leaves an ordinary call', async () => {
        const [callId, consultation] = await consulting(on.addresses.answers)
        await inState(consultation, connected)
        await on.hangupRemotely(callId)
        expect(await inState(callId, ended)).toMatchObject({ endReason: 1, endedBy: 2 })
        expect(observer.latest(consultation, on.alice)).toMatchObject({ state: connected, consultation: null })
      })

      test('whose agent loses the device goes on without the agent', async () => {
        const [callId, consultation] = await consulting()
        await inState(consultation, alerting, on.bob)
        await platform.answer(talk(consultation, on.bob))
        await inState(consultation, connected)
        await on.setDevice(on.alice, false)
        expect(await inState(callId, ended)).toMatchObject({ endReason: 10 })
        await inState(callId, connected, on.bob)
      })
    })

    describe('when things go wrong', () => {
      test('a call goes on after the process died, and nothing of it is lost', async () => {
        const callId = await dial(on.addresses.answers)
        platform = await on.restart(observer)
        await inState(callId, connected)
        expect(states(callId)).toEqual([initiated, proceeding, connected])
      })

      test('what could not be stored is told again', async () => {
        const callId = await dial(on.addresses.answers)
        await inState(callId, connected)
        observer.outage = new Error('the store is away')
        await platform.hold(leg(callId))
        expect(observer.latest(callId, on.alice)?.state).toBe(connected)
        observer.outage = undefined
        await inState(callId, held)
      })

      test('a command that certainly did not get through is refused as such', async () => {
        const callId = await dial(on.addresses.answers)
        await inState(callId, connected)
        on.cutOff(true)
        await expect(platform.hold(leg(callId))).rejects.toBeInstanceOf(PlatformUnavailable)
        on.cutOff(false)
        await platform.hold(leg(callId))
        await inState(callId, held)
      })
    })
  })
}
