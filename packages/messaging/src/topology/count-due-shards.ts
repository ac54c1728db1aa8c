import { type Link, type LinkOptions, openLink } from '../link/link.ts'
import { queueExists } from './queue-exists.ts'
import { dueQueues, MOST_SHARDS } from './topology.ts'

/**
 * The number of shards of due deliveries to consume: the configured ones, and those that an earlier configuration left on
 * the broker, which may still hold deliveries. Checks every possible shard, because one in between may have been deleted.
 * Waits until the broker is reachable.
 */
export async function countDueShards({
  configured,
  ...options
}: Pick<LinkOptions, 'url' | 'ca' | 'log' | 'name'> & { readonly configured: number }): Promise<number> {
  let shards = configured
  const link = await new Promise<Link>((resolve) => {
    const opening = openLink({
      ...options,
      // The link came up, so `setUp` has run.
      changed: () => void opening.then(resolve),
      setUp: async ({ model }) => {
        const found = await Promise.all(dueQueues(MOST_SHARDS).map((queue) => queueExists(model, queue)))
        shards = Math.max(configured, found.lastIndexOf(true) + 1)
      },
    })
  })
  await link.close()
  return shards
}
