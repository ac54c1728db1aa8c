import type { InstallationId, PlatformEvent } from '@switchhook/contracts'
import type { OutgoingMessage } from '../message/outgoing-message.ts'
import { createPacker } from '../packets/packer.ts'
import { eventPacketQueue, eventShardOf, fanoutExchange } from '../topology/topology.ts'
import { copyOf, eventMessage, eventPacketMessage, markedBy } from './messages.ts'
import type { Publisher } from './publisher.ts'

/** RabbitMQ costs as much for a message with one event as for one with many. A packet is acknowledged after its slowest event. */
const MAX_EVENTS = 32
const MAX_BYTES = 128 * 1_024
/**
 * Behind two packets that await their confirms, RabbitMQ is busy: events gather, and more of them share a message. At rest a
 * confirm arrives before the next commit.
 */
const WHILE_IN_FLIGHT = { packets: 2, ms: 5 }

export interface PublishEventDeps {
  readonly publisher: Pick<Publisher, 'publish' | 'publishCopy'>
  readonly shards: number
  readonly installation: () => InstallationId | undefined
}

/**
 * Returns the function that publishes an event to fan-out, and a copy of it for other systems. Events of one turn of the
 * event loop share a message for each shard (ADR 0068).
 */
export function createPublishEvent({ publisher, shards, installation }: PublishEventDeps) {
  /** Each event has the message that it is if it travels alone. */
  const packer = createPacker<{ readonly event: PlatformEvent; readonly message: OutgoingMessage }>({
    maxMembers: MAX_EVENTS,
    maxBytes: MAX_BYTES,
    gatherMs: 0,
    whileInFlight: WHILE_IN_FLIGHT,
    publish: async (events, shard) => {
      const [first] = events
      if (first !== undefined && events.length === 1) return await publisher.publish(first.message)
      const members = events.map(({ event, message: { content } }) => ({ ...event, content }))
      await publisher.publish(markedBy(installation(), eventPacketMessage(members, eventPacketQueue(shard))))
    },
  })

  return async (event: PlatformEvent): Promise<void> => {
    const shard = eventShardOf(event, shards)
    const message = markedBy(installation(), eventMessage(event, fanoutExchange(shard)))
    await Promise.all([
      packer.add({ event, message }, message.content.length, shard),
      publisher.publishCopy(copyOf(message)),
    ])
  }
}
