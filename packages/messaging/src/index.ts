export { type Broker, openBroker } from './broker.ts'
export { type ConsumeOptions, MAX_UNACKED_MS } from './consuming/consume-options.ts'
export type { Consumer } from './consuming/consumer.ts'
export type { IncomingMessage } from './message/message.ts'
export { createHandleMembers, createUnfinishedParts } from './packets/handle-members.ts'
export { createPacker, inOneMessage } from './packets/packer.ts'
export {
  EVENT_PACKET,
  MAX_PACKET_BYTES,
  MAX_PACKET_MEMBERS,
  openDeliveryPacket,
  openEventPacket,
  type PackedDelivery,
  type Packet,
  packEvents,
  type SingleEvent,
} from './packets/packet.ts'
export { MAX_PACKET_EVENTS } from './publishing/publish-event.ts'
export { CONFIRM_TIMEOUT_MS } from './publishing/publisher.ts'
export { openQuarantine, type Quarantine, type QuarantinedMessage } from './quarantine/quarantine.ts'
export { type QueueSample, sampleQueues } from './sample-queues.ts'
export { BROKER_USERS, declaredBy } from './topology/broker-users.ts'
export { countShards } from './topology/count-shards.ts'
export {
  BACKLOGS,
  backlogOf,
  backlogQueue,
  backlogQueues,
  DELIVERY_EXCHANGE,
  deliveryShardOf,
  dueQueues,
  EVENTS_EXCHANGE,
  eventPacketQueues,
  eventQueues,
  LANES,
  laneQueues,
  MAX_SHARDS,
  packetQueue,
  packetQueues,
  Queue,
  REVISION_HEADER,
  serviceTopology,
  type Topology,
  UNPACKED_HEADER,
  waitQueues,
} from './topology/topology.ts'
