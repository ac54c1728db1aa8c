import { onEndOfMake } from './on-end-of-make.ts'
import { openTestRun, type TestRun } from './test-run.ts'

declare global {
  var ownTestRun: TestRun | undefined
}

/**
 * Makes a process that belongs to no run, because a person started it, a run of its own: all that it starts ends with it,
 * however it ends.
 */
export function joinTestRun(): void {
  if (process.env['TEST_RUN'] !== undefined) return
  globalThis.ownTestRun = openTestRun()
  Object.assign(process.env, globalThis.ownTestRun.environment('own'))
  onEndOfMake(() => process.kill(process.pid, 'SIGHUP'))
}

/** Ends what `joinTestRun` has begun, with all that the tests started. */
export async function leaveTestRun(): Promise<void> {
  await globalThis.ownTestRun?.close()
}
