import {
  type OutcomeBatch,
  parseDelivery,
  parseOutcomeBatch,
  parseReceiverCheck,
  type ReceiverCheck,
} from '@switchhook/contracts'
import {
  type Broker,
  type Consumer,
  dueQueues,
  LANES,
  laneQueues,
  openDeliveryPacket,
  packetQueues,
  Queue,
} from '@switchhook/messaging'
import type { Consume, Service } from '@switchhook/service'
import { CONCURRENT_CHECKS } from './checks/check-receiver.ts'
import type { Clocks } from './clocks.ts'
import type { WorkerConfig } from './config.ts'
import { type Isolation, LANE_DEPTH } from './endpoint/isolate.ts'
import { createStartLimit, MAX_IN_PROGRESS, type StartLimit } from './endpoint/start-limit.ts'
import { CONCURRENT_BATCHES } from './held/record-outcomes.ts'
import { createPackets, type Packets } from './packets/packets.ts'
import type { Pipeline } from './pipeline/deliver.ts'
import type { Handle } from './reporting/delivery-spans.ts'
import type { Reporting } from './reporting/start-reporting.ts'

interface ConsumeDeps extends Pick<Service<WorkerConfig>, 'config' | 'log'> {
  readonly broker: Pick<Broker, 'publishPacked'>
  readonly consume: Consume
  readonly clocks: Clocks
  readonly isolation: Pick<Isolation, 'stop'>
  readonly deliver: Pipeline['deliver']
  readonly checkReceiver: (check: ReceiverCheck) => Promise<void>
  readonly recordOutcomes: (batch: OutcomeBatch) => Promise<void>
  readonly traced: Reporting['traced']
  /** Shards of the due queues. */
  readonly shards: number
}

/**
 * Packets that a worker receives, in `DELIVERY_CONCURRENCY`s: about eight times as many as it starts at a time, so that packets
 * of which a member hangs leave room. With more, a slow worker would keep more deliveries from the others.
 */
const PACKETS_SHARE = 0.5

/** The most POSTs in progress: of due deliveries alone, of packets, of backlogs, and of lanes. */
export const mostPosts = ({ DELIVERY_CONCURRENCY, SUBSCRIPTION_CONCURRENCY }: WorkerConfig): number =>
  (1 + 2 * MAX_IN_PROGRESS) * DELIVERY_CONCURRENCY + LANES * LANE_DEPTH * SUBSCRIPTION_CONCURRENCY

/** Consumes all queues of a worker, each with its share of the concurrency. */
export async function startConsuming(deps: ConsumeDeps): Promise<Pick<Consumer, 'drain'>> {
  const { config, broker, consume, clocks, isolation, deliver, recordOutcomes, traced, shards, log } = deps
  const { DELIVERY_CONCURRENCY: concurrency, SUBSCRIPTION_CONCURRENCY: cap } = config
  const limit = createStartLimit(concurrency, clocks)
  const fromDue: Handle = (due) => deliver(due, 'due')
  const fromLane: Handle = (due) => deliver(due, 'lane')
  const alone: Handle = (due) => {
    limit.noteDue()
    return fromDue(due)
  }
  const backlogged: Handle = async (due) => {
    const end = await limit.startBacklogged()
    await fromDue(due).finally(end)
  }
  const consumeAlone = (queue: string, most: number, handle: Handle): Promise<Consumer> =>
    consume(queue, most, ({ content, headers }) => parseDelivery(content, headers), traced(queue, handle))
  const packetsFrom = (queue: string, start: StartLimit['start'], queueAlone?: string): Packets =>
    createPackets({
      start,
      handle: traced(queue, fromDue),
      publishAlone: (member) => broker.publishPacked(member, queueAlone),
      log,
    })
  const packets = packetsFrom(Queue.deliveryPackets, limit.start)
  const ofBacklogs = packetsFrom(Queue.backlogPackets, limit.startBacklogged, Queue.deliveryBacklog)
  const perShard = Math.ceil(concurrency / shards)
  const consumePackets = (queue: string, { handle }: Packets, inShards: number): Promise<Consumer> =>
    consume(queue, Math.ceil((concurrency * PACKETS_SHARE) / inShards), openDeliveryPacket, handle)
  const consumers = await Promise.all([
    consume(Queue.receiverChecks, CONCURRENT_CHECKS, ({ content }) => parseReceiverCheck(content), deps.checkReceiver),
    consume(Queue.reportedOutcomes, CONCURRENT_BATCHES, ({ content }) => parseOutcomeBatch(content), recordOutcomes),
    ...dueQueues(shards).map((queue) => consumeAlone(queue, perShard, alone)),
    ...packetQueues(shards).map((queue) => consumePackets(queue, packets, shards)),
    consumePackets(Queue.backlogPackets, ofBacklogs, 1),
    consumeAlone(Queue.deliveryBacklog, concurrency, backlogged),
    ...laneQueues(LANES).map((lane) => consumeAlone(lane, LANE_DEPTH * cap, fromLane)),
  ])
  return {
    async drain() {
      const drained = consumers.map((consumer) => consumer.drain())
      // Packets first: a member whose wait ends no longer returns a packet that has started.
      for (const part of [packets, ofBacklogs, limit, isolation]) part.stop()
      await Promise.all(drained)
    },
  }
}
