import { type ConfirmChannel, connect } from 'amqplib'

/** A client of RabbitMQ that is independent of the one under test. */
export interface QueueObserver {
  readonly channel: ConfirmChannel
  /** Messages ready in the queue, without those in flight. Exact, unlike the counts of RabbitMQ's management API. */
  ready(queue: string): Promise<number>
  close(): Promise<void>
}

export async function openQueueObserver(url: string): Promise<QueueObserver> {
  const model = await connect(url)
  const channel = await model.createConfirmChannel()
  return {
    channel,
    ready: async (queue) => (await channel.checkQueue(queue)).messageCount,
    close: () => model.close(),
  }
}
