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
/** The weight of the latest packet in the mean. */
const SMOOTHING = 0.05

export type FirstAttempts = ReturnType<typeof createFirstAttempts>

/** Publishes first attempts. Eight or more of one iteration of the event loop and of one shard share a message. */
export function createFirstAttempts(broker: Pick<Broker, 'publishDelivery' | 'publishPacket'>, shards: number) {
  let mean = MAX_PACKET_MEMBERS
  const packer = createPacker<Delivery>({
    maxMembers: MAX_PACKET_MEMBERS,
    maxBytes: MAX_PACKET_BYTES,
    gatherMs: 0,
    publish: (deliveries, shard) => {
      if (deliveries.length < MIN_PACKET_MEMBERS) return deliveries.map((delivery) => broker.publishDelivery(delivery))
      mean += (deliveries.length - mean) * SMOOTHING
      return inOneMessage(deliveries, broker.publishPacket(deliveries, shard))
    },
  })

  return {
    /** Resolves once the broker has stored the delivery. */
    publish: (delivery: Delivery): Promise<void> =>
      packer.add(delivery, delivery.body.length, deliveryShardOf(delivery.subscriptionId, shards)),
    /** The number of deliveries in a packet, on average. */
    membersPerPacket: (): number => mean,
  }
}

/** The same for yielding deliveries. Their queues have no shards. */
export const createYieldingAttempts = (
  broker: Pick<Broker, 'publishYielding' | 'publishYieldingPacket'>,
): FirstAttempts =>
  createFirstAttempts({ publishDelivery: broker.publishYielding, publishPacket: broker.publishYieldingPacket }, 1)
