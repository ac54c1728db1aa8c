export { type Broker, type BrokerOptions, openBroker } from './broker.ts'
export { type ConsumeOptions, type Consumer, type ConsumerTiming, LONGEST_HOLD_MS } from './consuming/consumer.ts'
export type { IncomingMessage } from './consuming/incoming-message.ts'
export type { QueueDepth } from './consuming/queue-depths.ts'
export type { SingleEvent } from './publishing/messages.ts'
export { CONFIRM_TIMEOUT_MS } from './publishing/publisher.ts'
export {
  openQuarantine,
  type Quarantine,
  type QuarantinedMessage,
  type RequeueResult,
} from './quarantine/quarantine.ts'
export type { Origin } from './quarantine/quarantine-message.ts'
export { type QueueSample, sampleQueues } from './sample-queues.ts'
export { countShards } from './topology/count-shards.ts'
export {
  ALONE_HEADER,
  BACKLOGS,
  type Binding,
  backlogOf,
  backlogQueue,
  backlogQueues,
  DELIVERY_EXCHANGE,
  danglingNames,
  dueQueues,
  EVENTS_EXCHANGE,
  eventQueues,
  laneQueues,
  MOST_SHARDS,
  Queue,
  serviceTopology,
  type Topology,
  waitQueues,
} from './topology/topology.ts'
