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
import type { Logger } from '@switchhook/runtime'
import type { Consume } from '@switchhook/service'
import type { Bounds } from './bounds.ts'
import { CONCURRENT_CHECKS } from './checks/check-receiver.ts'
import type { Clocks } from './clocks.ts'
import type { Isolation } from './endpoint/isolate.ts'
import { createStartLimit, type StartLimit } from './endpoint/start-limit.ts'
import { CONCURRENT_BATCHES } from './held/record-outcomes.ts'
import { createPackets, type Packets } from './packets/packets.ts'
import type { Pipeline } from './pipeline/deliver.ts'
import type { Handle } from './reporting/delivery-spans.ts'
import type { Reporting } from './reporting/start-reporting.ts'

interface ConsumeDeps {
  readonly bounds: Pick<Bounds, 'prefetch' | 'starting'>
  readonly broker: Pick<Broker, 'publishUnpacked'>
  readonly consume: Consume
  readonly clocks: Clocks
  readonly isolation: Pick<Isolation, 'stop'>
  readonly deliver: Pipeline['deliver']
  readonly checkReceiver: (check: ReceiverCheck) => Promise<void>
  readonly recordOutcomes: (batch: OutcomeBatch) => Promise<void>
  readonly traced: Reporting['traced']
  readonly log: Logger
  /** Shards of the due queues. */
  readonly shards: number
}

/** Consumes all queues of a worker, each within its bound (bounds.ts). */
export async function startConsuming(deps: ConsumeDeps): Promise<Pick<Consumer, 'drain'>> {
  const { bounds, broker, consume, clocks, isolation, deliver, recordOutcomes, traced, shards, log } = deps
  const { prefetch } = bounds
  const limit = createStartLimit(bounds.starting, clocks)
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
      publishAlone: (member) => broker.publishUnpacked(member, queueAlone),
      log,
    })
  const packets = packetsFrom(Queue.deliveryPackets, limit.start)
  const ofBacklogs = packetsFrom(Queue.backlogPackets, limit.startBacklogged, Queue.deliveryBacklog)
  const consumers = await Promise.all([
    consume(Queue.receiverChecks, CONCURRENT_CHECKS, ({ content }) => parseReceiverCheck(content), deps.checkReceiver),
    consume(Queue.reportedOutcomes, CONCURRENT_BATCHES, ({ content }) => parseOutcomeBatch(content), recordOutcomes),
    ...dueQueues(shards).map((queue) => consumeAlone(queue, prefetch.due, alone)),
    ...packetQueues(shards).map((queue) => consume(queue, prefetch.packets, openDeliveryPacket, packets.handle)),
    consume(Queue.backlogPackets, prefetch.backlogPackets, openDeliveryPacket, ofBacklogs.handle),
    consumeAlone(Queue.deliveryBacklog, prefetch.backlog, backlogged),
    ...laneQueues(LANES).map((lane) => consumeAlone(lane, prefetch.lane, fromLane)),
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
