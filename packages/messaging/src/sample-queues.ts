import type { Channel, ChannelModel } from 'amqplib'
import type { BrokerAddress } from './link/link.ts'
import { closeInTime } from './link/session.ts'
import { connectToAny } from './quarantine/quarantine.ts'

export interface QueueSample {
  readonly queue: string
  /** Messages that are ready, without those that a consumer holds. */
  readonly messages: number
  /** Headers of the first messages. */
  readonly headers: readonly Readonly<Record<string, unknown>>[]
}

/**
 * Looks at the first `limit` messages of each queue and returns them; queues that do not exist are left out. Before
 * RabbitMQ 4.3 each look counts towards a message's delivery limit (20 in queues with consumers).
 * @throws Unavailable
 */
export async function sampleQueues(
  options: BrokerAddress & {
    readonly name: string
    readonly queues: readonly string[]
    readonly limit: number
  },
): Promise<QueueSample[]> {
  const model = await connectToAny(options, options.name)
  model.on('error', () => {}) // The pending call rejects.
  try {
    const samples: QueueSample[] = []
    for (const queue of options.queues) {
      const sample = await sampleOne(model, queue, options.limit)
      if (sample !== undefined) samples.push(sample)
    }
    return samples
  } finally {
    await closeInTime(model).catch(() => {})
  }
}

/** Opens a channel per queue, because the broker closes the channel if the queue does not exist. */
async function sampleOne(model: ChannelModel, queue: string, limit: number): Promise<QueueSample | undefined> {
  const channel = await model.createChannel()
  channel.on('error', () => {})
  try {
    const { messageCount } = await channel.checkQueue(queue)
    const headers = await headersOf(channel, queue, Math.min(limit, messageCount))
    // Closing the channel returns the messages to the queue.
    await channel.close()
    return { queue, messages: messageCount, headers }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 404) return undefined
    throw error
  }
}

async function headersOf(channel: Channel, queue: string, limit: number): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = []
  while (all.length < limit) {
    const message = await channel.get(queue)
    if (message === false) break
    all.push(message.properties.headers ?? {})
  }
  return all
}
