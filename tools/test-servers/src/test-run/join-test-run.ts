import { openTestRun, type TestRun } from './test-run.ts'

declare global {
  var ownTestRun: TestRun | undefined
}

/** Makes a Jest process that belongs to no run, because a person started it, a run of its own. */
export function joinTestRun(): void {
  if (process.env['TEST_RUN'] !== undefined) return
  globalThis.ownTestRun = openTestRun()
  Object.assign(process.env, globalThis.ownTestRun.environment('jest'))
}

/** Ends what `joinTestRun` has begun, with all that the tests started. */
export async function leaveTestRun(): Promise<void> {
  await globalThis.ownTestRun?.close()
}
