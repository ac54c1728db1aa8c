import type { InstallationId, PlatformEvent } from '@switchhook/contracts'
import type { OutgoingMessage } from '../message/outgoing-message.ts'
import { createPacker } from '../packets/packer.ts'
import type { QueueDepth } from '../topology/queue-depths.ts'
import { eventPackQueue, eventPackQueues, eventShardOf, fanoutExchange } from '../topology/topology.ts'
import { copyOf, eventMessage, eventPackMessage, markedBy } from './messages.ts'
import type { Publisher } from './publisher.ts'

/** RabbitMQ costs as much for a message with one event as for one with many. A pack is acknowledged after its slowest event. */
const MAX_EVENTS = 32
const MAX_BYTES = 128 * 1_024
/**
 * Behind two packs that await their confirms, RabbitMQ is busy: events gather, and more of them share a message. At rest a
 * confirm arrives before the next commit.
 */
const WHILE_IN_FLIGHT = { packets: 2, ms: 5 }

/** Packs that wait. Behind that many, fan-out is late: packs would reach their time limit and cost a message more. */
const MAX_WAITING = 200

/** How often fan-out is looked for while events are published, and how long a look is trusted. */
const LOOK_EVERY_MS = 1_000
const TRUSTED_MS = 2_500

export interface PublishEventDeps {
  readonly publisher: Pick<Publisher, 'publish' | 'publishCopy'>
  readonly shards: number
  readonly installation: () => InstallationId | undefined
  /** @throws Unavailable */
  readonly lookAt: (queues: readonly string[]) => Promise<readonly QueueDepth[]>
}

/**
 * Returns the function that publishes an event to fan-out, and a copy of it for other systems. Events of one turn of the
 * event loop travel in packs, one per shard, as long as fan-out keeps up with them: earlier versions do not (ADR 0068).
 */
export function createPublishEvent({ publisher, shards, installation, lookAt }: PublishEventDeps) {
  const queues = eventPackQueues(shards)
  let lookAgainAt = 0
  let trustedUntil = 0

  async function look(now: number): Promise<void> {
    lookAgainAt = now + LOOK_EVERY_MS
    // If RabbitMQ cannot be asked, the last look is trusted until its end.
    const depths = await lookAt(queues).catch(() => undefined)
    if (depths === undefined) return
    const areTaken = depths.every(({ consumers, ready }) => consumers > 0 && ready < MAX_WAITING)
    trustedUntil = areTaken ? now + TRUSTED_MS : 0
  }

  function arePacksTaken(): boolean {
    const now = performance.now()
    if (now >= lookAgainAt) void look(now)
    return now < trustedUntil
  }

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
      try {
        await publisher.publish(markedBy(installation(), eventPackMessage(members, eventPackQueue(shard))))
      } catch (error) {
        // The caller's repeat must not depend on the queue of packs.
        trustedUntil = 0
        throw error
      }
    },
  })

  return async (event: PlatformEvent): Promise<void> => {
    const shard = eventShardOf(event, shards)
    const message = markedBy(installation(), eventMessage(event, fanoutExchange(shard)))
    await Promise.all([
      arePacksTaken() ? packer.add({ event, message }, message.content.length, shard) : publisher.publish(message),
      publisher.publishCopy(copyOf(message)),
    ])
  }
}
