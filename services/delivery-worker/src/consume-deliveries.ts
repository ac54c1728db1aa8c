import { type Delivery, parseDelivery } from '@switchhook/contracts'
import {
  type Broker,
  type Consumer,
  dueQueues,
  type IncomingMessage,
  laneQueues,
  MAX_PACKET_MEMBERS,
  openDeliveryPacket,
  type PackedDelivery,
  packetQueues,
  Queue,
} from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import type { Installation } from '@switchhook/store'
import { createGiveWay, type Handle } from './isolation/give-way.ts'
import { type Isolation, LANE_DEPTH } from './isolation/isolate.ts'
import { createPackets, PACKET_PATIENCE_MS, type Packets } from './packets/packets.ts'
import { createCopies } from './pipeline/copies.ts'
import { createDeliver } from './pipeline/deliver.ts'
import type { DeliverDeps } from './pipeline/steps.ts'
import type { Reporting } from './reporting/start-reporting.ts'

export interface ConsumeDeliveriesDeps {
  readonly broker: Pick<Broker, 'publishRetry' | 'publishPacked'>
  readonly consume: Consume
  readonly isolation: Pick<Isolation, 'stop'>
  readonly worker: DeliverDeps
  readonly traced: Reporting['traced']
  /** Shards of the due queues. */
  readonly shards: number
  readonly lanes: number
  /** `DELIVERY_CONCURRENCY`. */
  readonly concurrency: number
  /** `SUBSCRIPTION_CONCURRENCY`. */
  readonly cap: number
  /** Longer than any attempt. */
  readonly copyWaitMs: number
  readonly log: Logger
}

/**
 * The share of `DELIVERY_CONCURRENCY` that deliveries of backlogs hold while others are due. On a busy processor, all
 * deliveries in progress delay each other.
 */
const BACKLOG_SHARE = 0.25
/** Deliveries of backlogs give way for this long after another delivery was due. */
const DUE_MEMORY_MS = 1_000
/** Deliveries to slow or hanging endpoints must not hold that share. */
const BACKLOG_COUNTS_MS = 100

/** Members in progress whose packets no longer wait for them, in `DELIVERY_CONCURRENCY`s. They hold their packets' bytes. */
const LEFT_DEPTH = 2

/** The most POSTs in progress: of due queues and of backlogs, alone, in packets and after their packets, and of lanes. */
export const mostPosts = ({ concurrency, cap, lanes }: Pick<ConsumeDeliveriesDeps, 'concurrency' | 'cap' | 'lanes'>) =>
  (4 + 2 * LEFT_DEPTH) * concurrency + lanes * LANE_DEPTH * cap

type Consume = ReturnType<typeof createConsume>

/** Consumes a queue. The consumer pauses while messages or Redis belong to another installation. */
export const createConsume =
  (broker: Pick<Broker, 'consume'>, { checked, recovered }: Pick<Installation, 'checked' | 'recovered'>) =>
  <T>(
    queue: string,
    concurrency: number,
    parse: (message: IncomingMessage) => T,
    handle: (value: T) => Promise<void>,
  ): Promise<Consumer> =>
    broker.consume({ queue, parse: checked(parse), handle, concurrency, recovered })

/** Consumes all queues of deliveries, each with its share of the concurrency. */
export async function consumeDeliveries(deps: ConsumeDeliveriesDeps): Promise<Pick<Consumer, 'drain'>> {
  const { broker, consume, isolation, worker, traced, shards, lanes, concurrency, cap, copyWaitMs, log } = deps
  const copies = createCopies(worker.nowMs)
  const deliver = createDeliver(worker, copies)
  const giveWay = createGiveWay({
    most: Math.ceil(concurrency * BACKLOG_SHARE),
    memoryMs: DUE_MEMORY_MS,
    countsMs: BACKLOG_COUNTS_MS,
    nowMs: worker.nowMs,
  })
  const fromDue: Handle = (due, begins) => deliver(due, 'due', begins)
  const fromLane: Handle = (due) => deliver(due, 'lane')
  const consumeAlone = (queue: string, most: number, handle: Handle): Promise<Consumer> =>
    consume(queue, most, ({ content, headers }) => parseDelivery(content, headers), traced(queue, handle))
  const ofPackets = {
    mostLeft: LEFT_DEPTH * concurrency,
    patienceMs: PACKET_PATIENCE_MS,
    parse: ({ content, headers }: PackedDelivery) => parseDelivery(content, headers),
    hasResult: copies.hasResult,
    publishCopy: (due: Delivery) => broker.publishRetry(due, copyWaitMs),
    copyWaitMs,
    log,
  }
  const packets = createPackets({
    ...ofPackets,
    handle: traced(Queue.deliveryPackets, giveWay.first(fromDue)),
    publishAlone: (member) => broker.publishPacked(member),
  })
  const ofBacklogs = createPackets({
    ...ofPackets,
    handle: traced(Queue.backlogPackets, fromDue),
    giveWay,
    publishAlone: (member) => broker.publishPacked(member, Queue.deliveryBacklog),
  })
  const consumePackets = (queue: string, { handle }: Packets, inShards: number): Promise<Consumer> =>
    consume(queue, Math.ceil(concurrency / inShards / MAX_PACKET_MEMBERS), openDeliveryPacket, handle)
  const consumers = await Promise.all([
    ...dueQueues(shards).map((queue) => consumeAlone(queue, Math.ceil(concurrency / shards), giveWay.first(fromDue))),
    ...packetQueues(shards).map((queue) => consumePackets(queue, packets, shards)),
    consumePackets(Queue.backlogPackets, ofBacklogs, 1),
    consumeAlone(Queue.deliveryBacklog, concurrency, giveWay.second(fromDue)),
    ...laneQueues(lanes).map((lane) => consumeAlone(lane, LANE_DEPTH * cap, fromLane)),
  ])
  return {
    async drain() {
      const drained = consumers.map((consumer) => consumer.drain())
      // Before the isolation ends the waits of members: from now on, a member that cannot go on does not return its packet.
      for (const { stop } of [packets, ofBacklogs]) stop()
      isolation.stop()
      await Promise.all(drained)
      await Promise.all([packets.ended(), ofBacklogs.ended()])
    },
  }
}
