import { type Delivery, parseDelivery } from '@switchhook/contracts'
import {
  type Broker,
  type Consumer,
  createHandleMembers,
  dueQueues,
  LANES,
  laneQueues,
  openDeliveryPacket,
  type PackedDelivery,
  type Packet,
  packetQueues,
  Queue,
} from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import type { Consume } from '@switchhook/service'
import type { Bounds } from './bounds.ts'
import type { Clocks } from './clocks.ts'
import type { Isolation } from './endpoint/isolation.ts'
import { createStartLimit, type StartLimit } from './endpoint/start-limit.ts'
import { Stopping } from './endpoint/stopping.ts'
import type { Handle } from './observers/delivery-spans.ts'
import type { Observers } from './observers/start-observers.ts'
import type { Pipeline } from './pipeline/pipeline.ts'

interface ConsumeDeps extends Pick<Clocks, 'nowMs'> {
  readonly bounds: Pick<Bounds, 'prefetch' | 'starting'>
  readonly broker: Pick<Broker, 'publishUnpackedDelivery'>
  readonly consume: Consume
  readonly isolation: Pick<Isolation, 'stop'>
  readonly deliver: Pipeline['deliver']
  readonly traced: Observers['traced']
  readonly log: Logger
  /** Shards of the due queues. */
  readonly shards: number
}

/** Consumes the queues of deliveries, each within its bound (bounds.ts). */
export async function startConsuming(deps: ConsumeDeps): Promise<Pick<Consumer, 'drain'>> {
  const { bounds, broker, consume, isolation, deliver, traced, shards, log } = deps
  const { prefetch } = bounds
  const limit = createStartLimit(bounds.starting, deps)
  const alone = (queue: string, concurrency: number, handle: Handle): Promise<Consumer> =>
    consume({
      queue,
      concurrency,
      parse: ({ content, headers }) => parseDelivery(content, headers),
      handle: traced(queue, handle),
    })
  const inPackets = (queue: string, concurrency: number, start: StartLimit['start'], unpackedTo?: string) =>
    consume({
      queue,
      concurrency,
      parse: openDeliveryPacket,
      handle: createHandlePacket({
        start,
        handle: traced(queue, (due) => deliver(due, 'due')),
        publishUnpacked: (member) => broker.publishUnpackedDelivery(member, unpackedTo),
        log,
      }),
    })
  const deliverDue: Handle = (due) => {
    limit.delayYielding()
    return deliver(due, 'due')
  }
  const deliverYielding: Handle = async (due) => {
    const end = await limit.startYielding()
    await deliver(due, 'due').finally(end)
  }
  const consumers = await Promise.all([
    ...dueQueues(shards).map((queue) => alone(queue, prefetch.due, deliverDue)),
    ...packetQueues(shards).map((queue) => inPackets(queue, prefetch.packets, limit.start)),
    inPackets(Queue.yieldingPackets, prefetch.yieldingPackets, limit.startYielding, Queue.yielding),
    alone(Queue.yielding, prefetch.yielding, deliverYielding),
    ...laneQueues(LANES).map((lane) => alone(lane, prefetch.lane, (due) => deliver(due, 'lane'))),
  ])
  return {
    async drain() {
      const drained = consumers.map((consumer) => consumer.drain())
      limit.stop()
      isolation.stop()
      await Promise.all(drained)
    },
  }
}

export interface PacketsDeps {
  /** Resolves once the member may start. Rejects with Stopping once the worker stops. */
  readonly start: StartLimit['start']
  readonly handle: (due: Delivery) => Promise<void>
  /** Resolves once the member is due as a message of its own. */
  readonly publishUnpacked: (member: PackedDelivery) => Promise<void>
  readonly log: Pick<Logger, 'error' | 'warn'>
}

/**
 * Each member goes through the pipeline on its own. The packet is acknowledged when the last one has ended. If the worker dies
 * before, the broker returns the packet, and the ledger drops the members that were settled.
 */
export function createHandlePacket({ start, handle, publishUnpacked, log }: PacketsDeps) {
  const handleMembers = createHandleMembers<PackedDelivery>({ publishUnpacked, log })

  /** Resolves when the packet may be acknowledged, see `createHandleMembers`. */
  return async (packet: Packet<PackedDelivery>): Promise<void> => {
    let hasStarted = false
    /** @throws Unparsable */
    async function handleMember(member: PackedDelivery): Promise<void> {
      const due = parseDelivery(member.content, member.headers)
      try {
        const end = await start()
        hasStarted = true
        await handle(due).finally(end)
      } catch (error) {
        if (!hasStarted || !(error instanceof Stopping)) throw error
        // With its packet it would reach another worker only after the POSTs of the other members.
        await publishUnpacked(member)
      }
    }
    await handleMembers(packet, handleMember)
  }
}
