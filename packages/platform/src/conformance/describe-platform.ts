import { describeCalls } from './describe-calls.ts'
import { describeFaults } from './describe-faults.ts'
import { describeTransfers } from './describe-transfers.ts'
import { Stage } from './fixture.ts'
import type { OpenHarness } from './harness.ts'

/** What every platform must do: each adapter's tests call this with a harness of its own. */
export function describePlatform(name: string, open: OpenHarness): void {
  describe(`the platform ${name}`, () => {
    const stage = new Stage()
    beforeEach(() => stage.set(open))
    afterEach(() => stage.strike())
    describeCalls(stage)
    describeTransfers(stage)
    describeFaults(stage)
  })
}
