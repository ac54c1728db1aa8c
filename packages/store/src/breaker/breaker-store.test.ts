import { newSubscriptionId } from '@switchhook/contracts'
import type { Commands } from '../redis/commands.ts'
import { execute, type Redis } from '../redis/redis.ts'
import { createBreakerReader } from './breaker-store.ts'

/** A Redis in which every endpoint works. It notes the number of endpoints of each call. */
function redisOf({ isCluster }: { isCluster: boolean }) {
  const calls: number[] = []
  const commands = {
    runParts: async (_name: string, parts: readonly unknown[]) => {
      calls.push(parts.length)
      return [parts.map(() => ['closed', 0, '0', '', 0, '', 0])]
    },
  } as unknown as Commands
  const redis: Pick<Redis, typeof execute | 'mayMixTags'> = {
    mayMixTags: () => !isCluster,
    [execute]: (action) => action(commands),
  }
  return { calls, reader: createBreakerReader(redis as Redis) }
}

test.each([
  ['share a call', false, [3]],
  ['have a call each in a cluster, whose primaries fail on their own', true, [1, 1, 1]],
] as const)('endpoints that are looked at in one tick %s', async (_what, isCluster, expected) => {
  const { calls, reader } = redisOf({ isCluster })
  const endpoints = ['acme', 'globex', 'acme'].map((tenant) => ({ tenant, subscriptionId: newSubscriptionId() }))
  await Promise.all(endpoints.map((endpoint) => reader.readEndpoint(endpoint)))
  expect(calls).toEqual(expected)
})
