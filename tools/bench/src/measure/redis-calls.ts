import type { Redis } from 'ioredis'

/** How often each command was called since the server began. */
async function callsByCommand(redis: Redis): Promise<ReadonlyMap<string, number>> {
  const info = await redis.info('commandstats')
  return new Map(
    [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name = '', calls]) => [name, Number(calls)]),
  )
}

/**
 * What `work` has called, per command, less what the services call anyhow in the same time. Scripts count once, as they
 * are one round trip, whatever they call inside.
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
