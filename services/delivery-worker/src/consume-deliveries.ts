import { type Delivery, parseDelivery } from '@switchhook/contracts'
import {
  type Broker,
  type Consumer,
  dueQueues,
  LANES,
  laneQueues,
  MAX_PACKET_MEMBERS,
  openDeliveryPacket,
  packetQueues,
  Queue,
} from '@switchhook/messaging'
import type { Consume, Service } from '@switchhook/service'
import { copyWaitMsOf, type WorkerConfig } from './config.ts'
import { createGiveWay, type Handle } from './endpoint/give-way.ts'
import { type Isolation, LANE_DEPTH } from './endpoint/isolate.ts'
import { createPackets, type Packets } from './packets/packets.ts'
import { createCopies } from './pipeline/copies.ts'
import { createDeliver } from './pipeline/deliver.ts'
import type { DeliverDeps } from './pipeline/steps.ts'
import type { Reporting } from './reporting/start-reporting.ts'

export interface ConsumeDeliveriesDeps extends Pick<Service<WorkerConfig>, 'config' | 'log'> {
  readonly broker: Pick<Broker, 'publishRetry' | 'publishPacked'>
  readonly consume: Consume
  readonly isolation: Pick<Isolation, 'stop'>
  readonly worker: DeliverDeps
  readonly traced: Reporting['traced']
  /** Shards of the due queues. */
  readonly shards: number
}

/**
 * The share of `DELIVERY_CONCURRENCY` that deliveries of backlogs hold while others are due. On a busy processor, all
 * deliveries in progress delay each other.
 */
const BACKLOG_SHARE = 0.25
/** Members in progress whose packets no longer wait for them, in `DELIVERY_CONCURRENCY`s. They hold their packets' bytes. */
const LEFT_DEPTH = 2

/** The most POSTs in progress: of due queues and of backlogs, alone, in packets and after their packets, and of lanes. */
export const mostPosts = ({ DELIVERY_CONCURRENCY, SUBSCRIPTION_CONCURRENCY }: WorkerConfig): number =>
  (4 + 2 * LEFT_DEPTH) * DELIVERY_CONCURRENCY + LANES * LANE_DEPTH * SUBSCRIPTION_CONCURRENCY

/** Consumes all queues of deliveries, each with its share of the concurrency. */
export async function consumeDeliveries(deps: ConsumeDeliveriesDeps): Promise<Pick<Consumer, 'drain'>> {
  const { config, broker, consume, isolation, worker, traced, shards, log } = deps
  const { DELIVERY_CONCURRENCY: concurrency, SUBSCRIPTION_CONCURRENCY: cap } = config
  const copyWaitMs = copyWaitMsOf(config)
  const copies = createCopies(worker.nowMs)
  const deliver = createDeliver(worker, copies)
  const giveWay = createGiveWay(Math.ceil(concurrency * BACKLOG_SHARE), { nowMs: worker.nowMs })
  const fromDue: Handle = (due, begins) => deliver(due, 'due', begins)
  const fromLane: Handle = (due) => deliver(due, 'lane')
  const consumeAlone = (queue: string, most: number, handle: Handle): Promise<Consumer> =>
    consume(queue, most, ({ content, headers }) => parseDelivery(content, headers), traced(queue, handle))
  const ofPackets = {
    mostLeft: LEFT_DEPTH * concurrency,
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
    ...laneQueues(LANES).map((lane) => consumeAlone(lane, LANE_DEPTH * cap, fromLane)),
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
