import { type Delivery, type PlatformEvent, parseEvent, type Tenant, Unavailable } from '@switchhook/contracts'
import {
  type Broker,
  backlogQueue,
  createPacker,
  type IncomingMessage,
  inOneMessage,
  type SingleEvent,
  UNPACKED_HEADER,
} from '@switchhook/messaging'
import { type Metrics, startPoll } from '@switchhook/runtime'
import type { Bounds } from '../bounds.ts'
import { createIntakeMeter } from '../events/fanout-meter.ts'
import { createFirstAttempts, createYieldingAttempts } from '../events/first-attempts.ts'
import { type HandleFromQueue, parseEventMessage } from '../events/handle-event.ts'
import { FairSemaphore } from './fair-semaphore.ts'
import { startQueueWatch } from './queue-watch.ts'
import { AGE_EVERY_MS, TenantShares } from './tenant-shares.ts'

/** A packet of a backlog. Long enough to fill packets, also when many tenants burst at the same time. */
const BACKLOG_PACKET = { maxMembers: 100, maxBytes: 256 * 1024, gatherMs: 25 }
/** Far below the broker's limit for unacknowledged messages (30 minutes). The events then go back into new packets. */
const END_WAITS_EVERY_MS = 300_000

type ReceivedEvent = ReturnType<typeof parseReceivedEvent>

/** @throws Unparsable as `parseEventMessage` */
export const parseReceivedEvent = (message: IncomingMessage, queue: string) => ({
  queue,
  event: parseEventMessage(message),
  content: message.content,
  /** It came out of a packet and must not be packed again. */
  isUnpacked: message.headers[UNPACKED_HEADER] === true,
})

/** @throws Unparsable for a member of a packet that is not an event */
const parsePacked = ({ content, traceparent, revision }: SingleEvent): PlatformEvent => ({
  ...parseEvent(content),
  ...(traceparent !== undefined && { traceparent }),
  ...(revision !== undefined && { revision }),
})

/** The line of events that came out of packets. No tenant's, because the waits of a deferred tenant are ended. */
const UNPACKED = Symbol('unpacked')

type Line = Tenant | typeof UNPACKED

interface IntakeDeps {
  readonly bounds: Pick<Bounds, 'handled'>
  readonly broker: Pick<
    Broker,
    | 'publishDelivery'
    | 'publishPacket'
    | 'publishYielding'
    | 'publishYieldingPacket'
    | 'publishEventPacket'
    | 'queueDepths'
  >
  readonly deliveryShards: number
  readonly handle: HandleFromQueue
  readonly metrics: Metrics
}

export type Intake = ReturnType<typeof startIntake>

/**
 * Decides whether an event is handled directly or stored in its tenant's backlog, and which deliveries give way to others.
 *
 * ```
 * fanout.events ──┬─ its tenant is within its share ──→ waits ──→ handled
 *                 │                                       │ its tenant is deferred meanwhile
 *                 └─ its tenant is deferred ──────────────┴──→ packed ──→ fanout.backlog.N
 *
 * fanout.backlog.N ──→ waits ──→ handled; its deliveries are yielding
 *        ↑               │ for five minutes, or until fan-out stops
 *        └──── packed ───┘
 * ```
 */
export function startIntake({ bounds, broker, deliveryShards, handle, metrics }: IntakeDeps) {
  const shares = new TenantShares()
  /** Events that are handled directly. */
  const direct = new FairSemaphore<Line>(bounds.handled.direct)
  /** Events from backlogs, by the number of their backlog. The watch lets them in while workers keep up. */
  const fromBacklogs = new FairSemaphore<number>(bounds.handled.fromBacklogs, { isOpen: false })
  const firstAttempts = createFirstAttempts(broker, deliveryShards)
  /** Deliveries that give way to those of other tenants. */
  const yielding = createYieldingAttempts(broker)
  const watch = startQueueWatch({ broker, deliveryShards, shares, direct, fromBacklogs, firstAttempts, yielding })
  const polls = [
    watch,
    startPoll(AGE_EVERY_MS, async () => shares.age()),
    startPoll(END_WAITS_EVERY_MS, async () => fromBacklogs.endWaits()),
  ]
  const countDeferred = createIntakeMeter(metrics, () => shares.deferredTenants())
  const packer = createPacker<SingleEvent>({
    ...BACKLOG_PACKET,
    publish: (events, n) => inOneMessage(events, broker.publishEventPacket(events, n)),
  })

  function publish(delivery: Delivery): Promise<void> {
    shares.countRecent(delivery.tenant, 1)
    return (shares.givesWay(delivery.tenant) ? yielding : firstAttempts).publish(delivery)
  }

  /** Call it once `direct` is acquired. */
  async function handleDirectly({ event, queue }: ReceivedEvent): Promise<void> {
    try {
      direct.owe(event.tenant, await handle(event, publish, queue))
    } finally {
      direct.release()
    }
  }

  async function pack({ event, content }: ReceivedEvent, n: number): Promise<void> {
    // The tenant's waiting events are packed, too: events that stay unacknowledged for long keep RabbitMQ from taking one
    // acknowledgement for many.
    direct.endWaitsOf(event.tenant)
    await packer.add({ ...event, content }, content.length, n)
    countDeferred()
  }

  async function take(received: ReceivedEvent): Promise<void> {
    const { tenant } = received.event
    if (received.isUnpacked) {
      if ((await direct.acquire(UNPACKED)) === 'acquired') return await handleDirectly(received)
      throw new Error('the wait of an event that left its packet has been ended')
    }
    for (;;) {
      const { backlog: n, end } = shares.route(tenant, watch.areDeliveriesLate())
      try {
        if (n !== undefined) return await pack(received, n)
        if ((await direct.acquire(tenant)) === 'acquired') return await handleDirectly(received)
      } finally {
        end()
      }
    }
  }

  async function handleFromBacklog(single: SingleEvent, n: number): Promise<void> {
    const event = parsePacked(single)
    const deliveries = await handle(event, yielding.publish, backlogQueue(n))
    shares.countRecent(event.tenant, deliveries)
    fromBacklogs.owe(n, deliveries)
  }

  return {
    /** Handles an event directly, or stores it in its tenant's backlog. Resolved: the event may be acknowledged. */
    take,
    /** Takes an event of a packet that the api has published. */
    takeMember: (single: SingleEvent, queue: string): Promise<void> =>
      take({ queue, event: parsePacked(single), content: single.content, isUnpacked: false }),
    /** Returns the function that takes the events of one packet of backlog `n`: each is handled, or packed again. */
    openBacklogPacket(n: number): (single: SingleEvent) => Promise<void> {
      /** Then no other event of the packet begins: all of them need what is away. */
      let failure: Unavailable | undefined
      return async (single) => {
        if ((await fromBacklogs.acquire(n)) === 'ended') return await packer.add(single, single.content.length, n)
        try {
          if (failure !== undefined) throw failure
          await handleFromBacklog(single, n)
        } catch (error) {
          // Before the release lets the next event begin, which may be one of this packet.
          if (error instanceof Unavailable) failure = error
          throw error
        } finally {
          fromBacklogs.release()
        }
      }
    },
    /** Ends the waits of events from backlogs, and all later ones. */
    stop: (): void => fromBacklogs.stop(),
    /** Call it once no event is in progress. */
    stopPolls: () => Promise.all(polls.map((poll) => poll.stop())),
  }
}
