import { CallState } from '@switchhook/contracts'
import { PlatformUnavailable } from '../platform.ts'
import type { Stage } from './fixture.ts'

const { initiated, proceeding, connected, held } = CallState

/** Processes that die, stores that are away. */
export function describeFaults(stage: Stage): void {
  describe('when things go wrong', () => {
    test('a call goes on after the process died, and nothing of it is lost', async () => {
      const callId = await stage.dial(stage.on.addresses.answers)
      stage.platform = await stage.on.restart(stage.observer)
      await stage.inState(callId, connected)
      expect(stage.states(callId)).toEqual([initiated, proceeding, connected])
    })

    test('what could not be stored is told again', async () => {
      const callId = await stage.dial(stage.on.addresses.answers)
      await stage.inState(callId, connected)
      stage.observer.outage = new Error('the store is away')
      await stage.platform.hold(stage.leg(callId))
      expect(stage.observer.latest(callId, stage.on.alice)?.state).toBe(connected)
      stage.observer.outage = undefined
      await stage.inState(callId, held)
    })

    test('a command that certainly did not get through is refused as such', async () => {
      const callId = await stage.dial(stage.on.addresses.answers)
      await stage.inState(callId, connected)
      stage.on.cutOff(true)
      await expect(stage.platform.hold(stage.leg(callId))).rejects.toBeInstanceOf(PlatformUnavailable)
      stage.on.cutOff(false)
      await stage.platform.hold(stage.leg(callId))
      await stage.inState(callId, held)
    })
  })
}
