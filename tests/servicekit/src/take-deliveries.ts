import { type Delivery, parseDelivery } from '@switchhook/contracts'
import {
  type Broker,
  dueQueues,
  type IncomingMessage,
  openDeliveryPacket,
  packetQueues,
  Queue,
} from '@switchhook/messaging'

/** Takes the deliveries of these shards as workers do: alone, in packets, and those that give way. */
export async function takeDeliveries(
  broker: Pick<Broker, 'consume'>,
  take: (delivery: Delivery, message: IncomingMessage) => void,
  shards: readonly number[] = [0],
): Promise<void> {
  const consume = (queue: string | undefined, arePackets: boolean): Promise<unknown> =>
    broker.consume({
      queue: queue ?? '',
      parse: (message) => ({ message, members: arePackets ? openDeliveryPacket(message).members : [message] }),
      handle: async ({ message, members }) => {
        for (const { content, headers } of members) take(parseDelivery(content, headers), message)
      },
      concurrency: 100,
      recovered: () => Promise.resolve(),
    })
  const most = Math.max(...shards) + 1
  await Promise.all([
    ...shards.map((shard) => consume(dueQueues(most)[shard], false)),
    ...shards.map((shard) => consume(packetQueues(most)[shard], true)),
    consume(Queue.yielding, false),
    consume(Queue.yieldingPackets, true),
  ])
}
