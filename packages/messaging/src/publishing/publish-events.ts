import { type InstallationId, type PlatformEvent } from '@switchhook/contracts'
import type { QueueDepth } from '../consuming/queue-depths.ts'
import { eventPackQueue, eventPackQueues, eventShardOf, fanoutExchange } from '../topology/topology.ts'
import { copyOf, eventMessage, eventPackMessage } from './messages.ts'
import type { OutgoingMessage, Publisher } from './publisher.ts'

/** RabbitMQ costs as much for a message with one event as for one with many. A pack is acknowledged after its slowest event. */
const MAX_EVENTS = 32
const MAX_BYTES = 128 * 1_024

/** Packs that wait. Behind that many, fan-out is late: packs would reach their time limit and cost a message more. */
const MAX_WAITING = 200

/** How often fan-out is looked for while events are published, and how long a look is trusted. */
const LOOK_EVERY_MS = 1_000
const TRUSTED_MS = 2_500

export interface PublishEventsDeps {
  readonly publisher: Pick<Publisher, 'publish' | 'publishCopy'>
  /** The number of shards of events. */
  readonly shards: number
  readonly installation: () => InstallationId | undefined
  /** @throws Unavailable */
  readonly lookAt: (queues: readonly string[]) => Promise<readonly QueueDepth[]>
}

/**
 * Returns the function that publishes events to fan-out, and copies of them for other systems. Several events of a call
 * travel in packs, one per shard, as long as fan-out keeps up with them: earlier versions do not (ADR 0068).
 */
export function createPublishEvents(deps: PublishEventsDeps): (events: readonly PlatformEvent[]) => Promise<void> {
  const { publisher, shards, installation, lookAt } = deps
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

  return async (events) => {
    const arePacked = events.length > 1 && arePacksTaken()
    const shardsOf = Map.groupBy(events, (event) => eventShardOf(event, shards))
    const sent = [...shardsOf].flatMap(([shard, some]) => {
      const messages = some.map((event) => eventMessage(event, fanoutExchange(shard), installation()))
      const originals = arePacked ? packed(messages, shard) : messages
      return [
        ...originals.map((message) => publisher.publish(message)),
        ...messages.map((message) => publisher.publishCopy(copyOf(message))),
      ]
    })
    await Promise.all(sent)
  }

  function packed(messages: readonly OutgoingMessage[], shard: number): readonly OutgoingMessage[] {
    return inPacks(messages).map((pack) => {
      const [only] = pack
      if (only !== undefined && pack.length === 1) return only
      const members = pack.map(({ content, routingKey, properties: { headers } }) => {
        const traceparent: unknown = headers?.['traceparent']
        return { content, eventType: routingKey, ...(typeof traceparent === 'string' && { traceparent }) }
      })
      return eventPackMessage(members, eventPackQueue(shard), installation())
    })
  }
}

function inPacks(messages: readonly OutgoingMessage[]): OutgoingMessage[][] {
  const packs: OutgoingMessage[][] = []
  let bytes = 0
  for (const message of messages) {
    const open = packs.at(-1)
    bytes += message.content.length
    if (open !== undefined && open.length < MAX_EVENTS && bytes <= MAX_BYTES) open.push(message)
    else {
      packs.push([message])
      bytes = message.content.length
    }
  }
  return packs
}
