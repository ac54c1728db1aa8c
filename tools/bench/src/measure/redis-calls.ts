import type { Redis } from 'ioredis'

/** Calls per command since the server started. */
async function callsByCommand(redis: Redis): Promise<ReadonlyMap<string, number>> {
  const info = await redis.info('commandstats')
  return new Map(
    [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name = '', calls]) => [name, Number(calls)]),
  )
}

/**
 * Calls that `work` causes, less the calls that idle services make in the same time. A script counts once: it is one round
 * trip.
 */
export async function countCalls(
  redis: Redis,
  work: () => Promise<void>,
): Promise<{ readonly reads: number; readonly writes: number }> {
  const before = await callsByCommand(redis)
  const startedAt = performance.now()
  await work()
  const workMs = performance.now() - startedAt
  const between = await callsByCommand(redis)
  await new Promise((resolve) => setTimeout(resolve, workMs))
  const after = await callsByCommand(redis)
  const own = (name: string): number => {
    const at = (calls: ReadonlyMap<string, number>): number => calls.get(name) ?? 0
    return Math.max(0, at(between) - at(before) - (at(after) - at(between)))
  }
  return { reads: own('mget'), writes: own('evalsha') }
}
