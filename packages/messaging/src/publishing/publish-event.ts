import type { PlatformEvent } from '@switchhook/contracts'
import { NotStored, type OutgoingMessage } from '../message/message.ts'
import { createPacker, inOneMessage } from '../packets/packer.ts'
import { eventPacketQueue, eventShardOf, fanoutExchange } from '../topology/topology.ts'
import { copyOf, eventMessage, eventPacketMessage } from './messages.ts'

/** RabbitMQ costs as much for a message with one event as for one with many. A packet is acknowledged after its slowest event. */
export const MAX_PACKET_EVENTS = 32
const MAX_BYTES = 128 * 1_024
/**
 * Behind two packets that await their confirms, RabbitMQ is busy: events gather, and more of them share a message. At rest a
 * confirm arrives before the next commit.
 */
const WHILE_IN_FLIGHT = { packets: 2, ms: 5 }

export interface PublishEventDeps extends Readonly<Record<'publish' | 'publishCopy', Publish>> {
  readonly shards: number
  /** Called when another system's queue did not store a copy. */
  readonly copyFailed: () => void
}

type Publish = (message: OutgoingMessage) => Promise<void>

/**
 * Returns the function that publishes an event to fan-out, and a copy of it for other systems. Events of one iteration of
 * the event loop, and of up to 5 ms while RabbitMQ is busy, share a message for each shard (ADR 0068).
 */
export function createPublishEvent({ publish, publishCopy, shards, copyFailed }: PublishEventDeps) {
  /** `message`: the event as a message of its own, if no other one shares it. */
  const packer = createPacker<{ readonly event: PlatformEvent; readonly message: OutgoingMessage }>({
    maxMembers: MAX_PACKET_EVENTS,
    maxBytes: MAX_BYTES,
    gatherMs: 0,
    whileInFlight: WHILE_IN_FLIGHT,
    publish: (events, shard) => {
      const [first] = events
      if (first !== undefined && events.length === 1) return [publish(first.message)]
      const members = events.map(({ event, message: { content } }) => ({ ...event, content }))
      return inOneMessage(events, publish(eventPacketMessage(members, eventPacketQueue(shard))))
    },
  })
  const publishIfBound = createPublishCopy(publishCopy, copyFailed)

  return async (event: PlatformEvent): Promise<void> => {
    const shard = eventShardOf(event, shards)
    const message = eventMessage(event, fanoutExchange(shard))
    await Promise.all([packer.add({ event, message }, message.content.length, shard), publishIfBound(copyOf(message))])
  }
}

/** After an unconfirmed copy, no publish of a copy waits for its confirm for this long. */
const COPIES_SLOW_MS = 10_000
/** After a copy that no queue accepted, the next copy with its routing key is sent this long afterwards. */
const UNBOUND_MS = 1_000

/**
 * Returns the function that publishes a copy for other systems. Their queues must not delay the original, so it also resolves
 * when such a queue refuses the copy or does not confirm it in time. Without such a queue, one copy a second is sent.
 * @param send rejects with NotStored if the broker does not confirm the copy
 * @param failed called when another system's queue did not store a copy
 */
export function createPublishCopy(send: Publish, failed: () => void): Publish {
  /** By routing key: until when no copies are sent, because no other system has bound a queue. */
  const unboundUntil = new Map<string, number>()
  let slowUntil = 0

  async function sendAt(startMs: number, copy: OutgoingMessage): Promise<void> {
    try {
      await send(copy)
    } catch (error) {
      const reason = error instanceof NotStored ? error.reason : undefined
      if (reason === 'unroutable') unboundUntil.set(copy.routingKey, startMs + UNBOUND_MS)
      else if (reason === 'refused') failed()
      else if (reason !== 'timeout') throw error
      else if (performance.now() >= slowUntil) {
        slowUntil = performance.now() + COPIES_SLOW_MS
        failed()
      }
    }
  }

  /** @throws NotStored if the broker cannot be reached or has an alarm */
  return async (copy) => {
    const now = performance.now()
    if (now < (unboundUntil.get(copy.routingKey) ?? 0)) return
    const sent = sendAt(now, copy)
    if (now < slowUntil) sent.catch(() => {})
    else await sent
  }
}
