import { type LinkOptions, openLink } from '../link/link.ts'
import { queueExists } from '../link/session.ts'
import { MAX_SHARDS } from './topology.ts'

/**
 * The number of shards to consume: the configured ones, and those that an earlier configuration left on the broker, which
 * may still hold messages. Checks every possible shard, because one in between may have been deleted. Waits until the broker
 * is reachable.
 * @param namesOf the names of the first shards, such as `dueQueues`
 */
export async function countShards({
  configured,
  namesOf,
  ...options
}: Pick<LinkOptions, 'url' | 'ca' | 'log' | 'name'> & {
  readonly configured: number
  readonly namesOf: (shards: number) => readonly string[]
}): Promise<number> {
  let shards = configured
  const up = Promise.withResolvers<void>()
  const link = openLink({
    ...options,
    changed: up.resolve,
    setUp: async ({ model }) => {
      const found = await Promise.all(namesOf(MAX_SHARDS).map((queue) => queueExists(model, queue)))
      shards = Math.max(configured, found.lastIndexOf(true) + 1)
    },
  })
  // `setUp` has run by then.
  await up.promise
  await link.close()
  return shards
}
