import type { ChannelModel } from 'amqplib'
import { type Link, type LinkOptions, openLink } from '../link/link.ts'
import { dueQueues, MOST_SHARDS } from './topology.ts'

/**
 * How many shards of due deliveries must be consumed: the configured ones, and those that an earlier configuration left on
 * the broker, in which deliveries may wait. Every possible shard is looked for, because one in between may have been
 * deleted. Waits for a broker that is not there yet.
 */
export async function countDueShards({
  configured,
  ...options
}: Pick<LinkOptions, 'url' | 'log' | 'name'> & { readonly configured: number }): Promise<number> {
  let shards = configured
  const link = await new Promise<Link>((resolve) => {
    const opening = openLink({
      ...options,
      // It came up, so it is set up.
      changed: () => void opening.then(resolve),
      setUp: async ({ model }) => {
        const found = await Promise.all(dueQueues(MOST_SHARDS).map((queue) => exists(model, queue)))
        shards = Math.max(configured, found.lastIndexOf(true) + 1)
      },
    })
  })
  await link.close()
  return shards
}

/** RabbitMQ closes the channel when the queue does not exist. */
async function exists(model: ChannelModel, queue: string): Promise<boolean> {
  const channel = await model.createChannel()
  channel.on('error', () => {})
  try {
    await channel.checkQueue(queue)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 404) return false
    throw error
  }
  await channel.close()
  return true
}
