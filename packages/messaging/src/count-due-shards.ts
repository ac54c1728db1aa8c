import type { ChannelModel } from 'amqplib'
import { type Link, type LinkOptions, openLink } from './link.ts'
import { dueQueue } from './topology.ts'

/**
 * How many shards of due deliveries there are to consume: those that are configured, and those that the broker still has
 * from a time when there were more, in which deliveries may lie. Waits for a broker that is not there yet.
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
        while (await exists(model, dueQueue(shards))) shards += 1
      },
    })
  })
  await link.close()
  return shards
}

/** Asking for a queue that is not there costs the channel. */
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
