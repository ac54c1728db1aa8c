import { CallState } from '@switchhook/contracts'
import { PlatformUnavailable } from '@switchhook/platform'
import { describeAttendedTransfers } from './describe-attended-transfers.ts'
import { describeBlindTransfers } from './describe-blind-transfers.ts'
import { describeCalls } from './describe-calls.ts'
import { Fixture } from './fixture.ts'
import type { OpenHarness } from './harness.ts'

const { initiated, proceeding, connected, held } = CallState

/** The conformance suite: what every platform must do. An adapter's tests call it with a harness. */
export function describePlatform(name: string, open: OpenHarness): void {
  describe(`the platform ${name}`, () => {
    const fixture = new Fixture()
    beforeEach(() => fixture.setUp(open))
    afterEach(() => fixture.tearDown())
    describeCalls(fixture)
    describeBlindTransfers(fixture)
    describeAttendedTransfers(fixture)
    describeFaults(fixture)
  })
}

function describeFaults(fixture: Fixture): void {
  describe('failures', () => {
    test('a call continues after the process dies, and no report is lost', async () => {
      const callId = await fixture.dial(fixture.harness.addresses.answers)
      await fixture.restart()
      await fixture.untilState(callId, connected)
      // A platform need not remember a ringing that ended before the process was back.
      expect(fixture.states(callId).filter((state) => state !== proceeding)).toEqual([initiated, connected])
    })

    test('reports that could not be stored are repeated', async () => {
      const callId = await fixture.dial(fixture.harness.addresses.answers)
      await fixture.untilState(callId, connected)
      fixture.observer.outage = new Error('the store is unavailable')
      await fixture.platform.hold(fixture.leg(callId))
      expect(fixture.latest(callId)?.state).toBe(connected)
      fixture.observer.outage = undefined
      await fixture.untilState(callId, held)
    })

    test('a command that certainly did not reach the platform rejects with PlatformUnavailable', async () => {
      const callId = await fixture.dial(fixture.harness.addresses.answers)
      await fixture.untilState(callId, connected)
      fixture.harness.cutOff(true)
      await expect(fixture.platform.hold(fixture.leg(callId))).rejects.toBeInstanceOf(PlatformUnavailable)
      fixture.harness.cutOff(false)
      await fixture.platform.hold(fixture.leg(callId))
      await fixture.untilState(callId, held)
    })
  })
}
