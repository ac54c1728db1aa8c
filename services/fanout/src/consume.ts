import {
  type Broker,
  backlogQueues,
  type Consumer,
  createHandleMembers,
  eventPacketQueues,
  eventQueues,
  openEventPacket,
  type SingleEvent,
} from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import type { Consume } from '@switchhook/service'
import type { Bounds } from './bounds.ts'
import { parseEventMessage } from './events/handle-event.ts'
import type { Intake } from './intake/intake.ts'

interface ConsumeDeps {
  readonly bounds: Pick<Bounds, 'prefetch'>
  readonly broker: Pick<Broker, 'publishUnpackedEvent'>
  readonly consume: Consume
  readonly intake: Intake
  /** Shards of the event queues. */
  readonly shards: number
  readonly log: Logger
}

/**
 * Longer than the confirm of a packet takes. In a burst, events of many packets end in any order; an acknowledgement for each
 * costs RabbitMQ half as much as the event itself.
 */
const ACK_DELAY_MS = 100

/** Consumes events, the packets of events, and the backlogs, each within its bound (bounds.ts). */
export async function startConsuming(deps: ConsumeDeps): Promise<Pick<Consumer, 'drain'>> {
  const { bounds, broker, consume, intake, shards, log } = deps
  const { events, packets, backlog } = bounds.prefetch
  const handleMembers = createHandleMembers<SingleEvent>({ publishUnpacked: broker.publishUnpackedEvent, log })
  const consumers = await Promise.all([
    ...eventQueues(shards).map((queue) =>
      consume({
        queue,
        concurrency: events,
        parse: (message) => parseEventMessage(message, queue),
        handle: intake.take,
        ackDelayMs: ACK_DELAY_MS,
      }),
    ),
    ...eventPacketQueues(shards).map((queue) =>
      consume({
        queue,
        concurrency: packets,
        parse: openEventPacket,
        handle: (packet) => handleMembers(packet, (event) => intake.takeMember(event, queue)),
        ackDelayMs: ACK_DELAY_MS,
      }),
    ),
    ...backlogQueues.map((queue, n) =>
      consume({
        queue,
        concurrency: backlog,
        parse: openEventPacket,
        handle: (packet) => handleMembers(packet, intake.openBacklogPacket(n)),
      }),
    ),
  ])
  return {
    async drain() {
      const drained = consumers.map((consumer) => consumer.drain())
      intake.stop()
      await Promise.all(drained)
    },
  }
}
