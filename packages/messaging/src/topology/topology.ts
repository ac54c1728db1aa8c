import { crc32 } from 'node:zlib'
import type { PlatformEvent, SubscriptionId, Tenant } from '@switchhook/contracts'

/** The exchanges, queues and bindings that must exist on the broker. Declared on each connection. */
export interface Topology {
  readonly exchanges: Readonly<Record<string, 'topic' | 'direct' | 'fanout' | 'headers'>>
  /** Exchange → its alternate exchange, which receives the messages that match none of its bindings. */
  readonly alternates?: Readonly<Record<string, string>>
  /** Queue name → arguments. RabbitMQ cannot change the arguments of an existing queue: a new value needs a new name. */
  readonly queues: Readonly<Record<string, Readonly<Record<string, string | number>>>>
  readonly bindings: readonly Binding[]
  /** `to` is an exchange. */
  readonly exchangeBindings?: readonly (Binding & { readonly arguments?: Readonly<Record<string, string | boolean>> })[]
  /** Queues that another service declares: the set-up of a connection fails until they exist. */
  readonly expected?: readonly string[]
  /** Among how many shards a service divides what it publishes. Default: one each. */
  readonly shards?: { readonly deliveries: number; readonly events: number }
}

export interface Binding {
  readonly from: string
  readonly key: string
  readonly to: string
}

/** Public interface: any platform may publish events here, and any system may bind a queue to receive all events. */
export const EVENTS_EXCHANGE = 'switchhook.events'

/** Private: bound only to `fanout.events`, so a confirm proves that the event is in that queue. Each further shard has its own. */
export const FANOUT_EXCHANGE = 'switchhook.fanout'

/** Separates the messages of the public exchange: copies of our own events are dropped, all others go to fan-out. */
const INTAKE_EXCHANGE = 'switchhook.intake'
/** Has no bindings, so it drops the copies of our own events. Queues of other systems have received them by then. */
const COPIES_EXCHANGE = 'switchhook.copies'

/** Marks a copy on the public exchange; its original was published to fan-out. */
export const COPY_HEADER = 'switchhook-copy'

/** Marks an event that left its packet, because it could not be handled in it. Fan-out does not pack it again. */
export const UNPACKED_HEADER = 'sh-alone'

/** The revision of the tenant's subscriptions when the event was stored. Copies do not carry it. */
export const REVISION_HEADER = 'sh-revision'

/** The routing key is the name of the target queue. */
export const DELIVERY_EXCHANGE = 'switchhook.delivery'

export const Queue = {
  /** The first shard of events. Events from outside arrive here. */
  fanoutEvents: 'fanout.events',
  /** The first shard of packets of events: those of one moment in one message of the api. */
  eventPackets: 'fanout.events.packets',
  /** The first shard of due deliveries. */
  deliveryDue: 'delivery.due',
  /**
   * Due deliveries that give way: of events from backlogs, of large tenants, of recoveries, and those that were held because
   * their subscription was paused. While others are due, workers start only some of them at a time.
   */
  yielding: 'delivery.backlog',
  /** The first shard of packets: first attempts that share a message. Workers consume it like `delivery.due`. */
  deliveryPackets: 'delivery.packets',
  /** Packets of yielding deliveries. Named like a shard of packets, so that it is counted as one. */
  yieldingPackets: 'delivery.packets.backlog',
  /** Requests for a test POST to an endpoint. A separate queue, because the rules of deliveries do not apply to them. */
  receiverChecks: 'delivery.checks',
  /** Outcomes that clients report of deliveries that they have received. */
  reportedOutcomes: 'delivery.outcomes',
  /** Messages that cannot be parsed or failed too often, for an operator to inspect. */
  quarantine: 'quarantine',
} as const

/** The highest number of shards that can be configured, of events and of deliveries. */
export const MAX_SHARDS = 64

/** The first shard has the name that the queue had before there were shards. */
const shardName = (queue: string, shard: number): string => (shard === 0 ? queue : `${queue}.${shard}`)
const shardNames = (queue: string, shards: number): readonly string[] =>
  Array.from({ length: shards }, (_, shard) => shardName(queue, shard))
const shardFor = (key: string, shards: number): number => crc32(key) % shards

/** Due deliveries. With several shards the leader of one queue is not the throughput limit; the default is one. */
export const dueQueues = (shards: number): readonly string[] => shardNames(Queue.deliveryDue, shards)
/** Every worker consumes all shards, so any would do. Choosing by subscription keeps one endpoint's burst in one queue. */
export const deliveryShardOf = (subscription: string, shards: number): number => shardFor(subscription, shards)
export const dueQueueFor = (subscription: string, shards: number): string =>
  shardName(Queue.deliveryDue, deliveryShardOf(subscription, shards))

/** Packets of deliveries: a queue for each shard of due deliveries, so that packets have a prefetch of their own. */
export const packetQueue = (shard: number): string => shardName(Queue.deliveryPackets, shard)
export const packetQueues = (shards: number): readonly string[] => shardNames(Queue.deliveryPackets, shards)

/** Named by the wait, not by its slot: a new schedule adds queues and redeclares none. */
export const waitQueues = (waitMs: number, shards: number): readonly string[] => shardNames(waitName(waitMs), shards)
/** The wait queue of a subscription's shard: its messages return to that shard of due deliveries. */
export const waitQueueFor = (subscription: SubscriptionId, waitMs: number, shards: number): string =>
  shardName(waitName(waitMs), shardFor(subscription, shards))
const waitName = (waitMs: number): string => `delivery.wait.${waitMs}`

/** Events. With several shards the leader of one queue is not the throughput limit; the default is one. */
export const eventQueues = (shards: number): readonly string[] => shardNames(Queue.fanoutEvents, shards)
/**
 * The shard of an event. Every fan-out process consumes all shards, so any would do. The events of one call or agent share
 * a shard, so that shards reorder them no more than one queue.
 */
export function eventShardOf({ eventId, data }: Pick<PlatformEvent, 'eventId' | 'data'>, shards: number): number {
  if (shards === 1) return 0
  const subject = data['callId'] ?? data['agentUri']
  return shardFor(typeof subject === 'string' ? subject : eventId, shards)
}
export const fanoutExchange = (shard: number): string => shardName(FANOUT_EXCHANGE, shard)
export const eventPacketQueue = (shard: number): string => shardName(Queue.eventPackets, shard)
export const eventPacketQueues = (shards: number): readonly string[] => shardNames(Queue.eventPackets, shards)

/** Subscriptions that share a lane wait for the slowest of them; more lanes mean fewer neighbours. */
export const LANES = 16

/**
 * Deliveries that wait for a turn: their subscription has used up all of its turns, its endpoint let a POST hang lately, or
 * too many POSTs of their tenant hang.
 */
export const laneQueues = (lanes: number): readonly string[] =>
  Array.from({ length: lanes }, (_, lane) => laneName(lane))
/** The lane of a subscription. Always the same, so that its deliveries form one queue. */
export const laneQueueFor = (subscription: SubscriptionId): string => laneName(shardFor(subscription, LANES))
const laneName = (lane: number): string => `delivery.lane.${lane}`

/** Queues for packets of events of tenants that are over their share (ADR 0039). */
export const BACKLOGS = 16
export const backlogQueue = (backlog: number): string => `fanout.backlog.${backlog}`
export const backlogQueues: readonly string[] = Array.from({ length: BACKLOGS }, (_, n) => backlogQueue(n))
/** The backlog that a tenant gets if it is free. null: events of the installation itself. */
export const backlogOf = (tenant: Tenant): number => crc32(tenant ?? '') % BACKLOGS

/** On a queue without consumers only reading messages counts as a delivery. That must never move one. */
const UNLIMITED_READS = 1_000_000_000

/** Explicit, because the default differs between RabbitMQ 3 (none) and 4 (20). */
const DELIVERY_LIMIT = 20

/** At-least-once dead-lettering needs reject-publish; without it RabbitMQ silently falls back to at-most-once. */
const deadLetterTo = (key: string) => ({
  'x-dead-letter-exchange': DELIVERY_EXCHANGE,
  'x-dead-letter-routing-key': key,
  'x-dead-letter-strategy': 'at-least-once',
  'x-overflow': 'reject-publish',
})

const quorum = { 'x-queue-type': 'quorum' }
const work = { ...quorum, ...deadLetterTo(Queue.quarantine), 'x-delivery-limit': DELIVERY_LIMIT }
const idle = { ...quorum, 'x-delivery-limit': UNLIMITED_READS }
const wait = (ms: number, shard: number) => ({
  ...idle,
  ...deadLetterTo(shardName(Queue.deliveryDue, shard)),
  'x-message-ttl': ms,
})

const all = <Arguments>(names: readonly string[], queueArguments: Arguments): Readonly<Record<string, Arguments>> =>
  Object.fromEntries(names.map((name) => [name, queueArguments]))

/** The queues of a service beyond those that every service declares. */
export interface ServiceQueues {
  /** The number of shards among which the service divides due deliveries and retries. Default: 1. */
  readonly deliveryShards?: number
  /** The number of shards of events that the service publishes to or consumes. Default: 1. */
  readonly eventShards?: number
  /** Queues of work that it also uses: lanes, backlogs, and shards of an earlier configuration. Default: none. */
  readonly others?: readonly string[]
}

/** @param waitsMs the waits of a service that publishes retries, else `[]`; each has a queue per shard of deliveries */
export function serviceTopology(
  waitsMs: readonly number[],
  { deliveryShards = 1, eventShards = 1, others = [] }: ServiceQueues = {},
): Topology {
  const workQueues = [
    ...dueQueues(deliveryShards),
    ...packetQueues(deliveryShards),
    Queue.yielding,
    Queue.yieldingPackets,
    ...eventPacketQueues(eventShards),
    ...others,
    Queue.receiverChecks,
    Queue.reportedOutcomes,
  ]
  const events = eventQueues(eventShards).map((queue, shard) => ({ exchange: fanoutExchange(shard), queue }))
  // The targets of dead letters first: their bindings have this order, too, and a message must never wait in a queue whose
  // dead-letter target is not bound yet.
  const deliveryQueues: Topology['queues'] = {
    [Queue.quarantine]: { ...idle, 'x-overflow': 'reject-publish' },
    ...all(workQueues, work),
    ...Object.fromEntries(
      waitsMs.flatMap((ms) => waitQueues(ms, deliveryShards).map((name, shard) => [name, wait(ms, shard)])),
    ),
  }
  return {
    exchanges: {
      [EVENTS_EXCHANGE]: 'topic',
      [DELIVERY_EXCHANGE]: 'direct',
      ...Object.fromEntries(events.map(({ exchange }) => [exchange, 'fanout'] as const)),
      [COPIES_EXCHANGE]: 'fanout',
      [INTAKE_EXCHANGE]: 'headers',
    },
    alternates: { [INTAKE_EXCHANGE]: FANOUT_EXCHANGE },
    queues: { ...deliveryQueues, ...all(eventQueues(eventShards), work) },
    bindings: [
      ...Object.keys(deliveryQueues).map((name) => ({ from: DELIVERY_EXCHANGE, key: name, to: name })),
      ...events.map(({ exchange, queue }) => ({ from: exchange, key: '#', to: queue })),
    ],
    exchangeBindings: [
      { from: INTAKE_EXCHANGE, key: '', to: COPIES_EXCHANGE, arguments: { 'x-match': 'all', [COPY_HEADER]: true } },
      { from: EVENTS_EXCHANGE, key: '#', to: INTAKE_EXCHANGE },
    ],
    shards: { deliveries: deliveryShards, events: eventShards },
  }
}

export const hasRoute = ({ bindings }: Topology, exchange: string, routingKey: string): boolean =>
  bindings.some(({ from, key }) => from === exchange && (key === routingKey || key === '#'))
