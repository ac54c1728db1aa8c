import type { Delivery } from '@switchhook/contracts'
import {
  type Broker,
  createPacker,
  deliveryShardOf,
  inOneMessage,
  MAX_PACKET_BYTES,
  MAX_PACKET_MEMBERS,
} from '@switchhook/messaging'

/** Fewer deliveries are messages of their own, which all workers share. */
const MIN_PACKET_MEMBERS = 8

/**
 * Returns the function that publishes first attempts; it resolves once the broker has stored the delivery. Eight or more of
 * one iteration of the event loop and of one shard share a message.
 */
export function createFirstAttempts(broker: Pick<Broker, 'publishDelivery' | 'publishPacket'>, shards: number) {
  const packer = createPacker<Delivery>({
    maxMembers: MAX_PACKET_MEMBERS,
    maxBytes: MAX_PACKET_BYTES,
    gatherMs: 0,
    publish: (deliveries, shard) =>
      deliveries.length < MIN_PACKET_MEMBERS
        ? deliveries.map((delivery) => broker.publishDelivery(delivery))
        : inOneMessage(deliveries, broker.publishPacket(deliveries, shard)),
  })
  return (delivery: Delivery): Promise<void> =>
    packer.add(delivery, delivery.body.length, deliveryShardOf(delivery.subscriptionId, shards))
}
