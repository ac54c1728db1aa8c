import { type ConfirmChannel, connect } from 'amqplib'

/** A client beside the one under test. */
export interface Probe {
  readonly channel: ConfirmChannel
  /** Messages that wait in the queue, without those in hand; exact, which the management's counts are not. */
  ready(queue: string): Promise<number>
  close(): Promise<void>
}

export async function openProbe(url: string): Promise<Probe> {
  const model = await connect(url)
  const channel = await model.createConfirmChannel()
  return {
    channel,
    ready: async (queue) => (await channel.checkQueue(queue)).messageCount,
    close: () => model.close(),
  }
}
