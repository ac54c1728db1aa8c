import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningEndpoint } from './endpoint.ts'
import { createRandom } from './random.ts'

/**
 * Lets an endpoint leave and return until the signal comes, and be there in the end. It stays away for less than a third
 * of the retry schedule, so that no delivery is exhausted by it.
 */
export async function awayAtTimes(endpoint: RunningEndpoint, seed: number, signal: AbortSignal): Promise<void> {
  const random = createRandom(seed)
  const wait = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined)
  await wait(3_000)
  while (!signal.aborted) {
    await endpoint.leave()
    await wait(random.between(3_000, 9_000))
    await endpoint.comeBack()
    await wait(random.between(12_000, 25_000))
  }
}
