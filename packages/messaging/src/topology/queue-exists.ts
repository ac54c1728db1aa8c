import type { ChannelModel } from 'amqplib'

/** Uses a channel of its own, because RabbitMQ closes the channel if the queue does not exist. */
export async function queueExists(model: ChannelModel, queue: string): Promise<boolean> {
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
