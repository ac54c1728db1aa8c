import { type BrokerAddress, closeInTime, connectToAny, ifQueueExists } from './link/session.ts'
import { take } from './quarantine/quarantine.ts'

export interface QueueSample {
  readonly queue: string
  /** Messages that are ready, without those that a consumer holds. */
  readonly messages: number
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
  try {
    const samples: QueueSample[] = []
    for (const queue of options.queues) {
      const sample = await ifQueueExists(model, async (channel) => {
        const { messageCount } = await channel.checkQueue(queue)
        const taken = await take(channel, queue, Math.min(options.limit, messageCount))
        return { queue, messages: messageCount, headers: taken.map(({ properties }) => properties.headers ?? {}) }
      })
      if (sample !== undefined) samples.push(sample)
    }
    return samples
  } finally {
    await closeInTime(model).catch(() => {})
  }
}
