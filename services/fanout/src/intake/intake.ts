import { type Delivery, type Tenant, Unavailable } from '@switchhook/contracts'
import { type Broker, backlogQueue, createPacker, inOneMessage, type SingleEvent } from '@switchhook/messaging'
import { type Metrics, startPoll } from '@switchhook/runtime'
import type { Bounds } from '../bounds.ts'
import { createIntakeMeter } from '../events/fanout-meter.ts'
import { createFirstAttempts } from '../events/first-attempts.ts'
import { type HandleFromQueue, parseContent, type ReceivedEvent } from '../events/handle-event.ts'
import { createFairSemaphore } from './fair-semaphore.ts'
import { startQueueWatch } from './queue-watch.ts'
import { AGE_EVERY_MS, createTenantShares } from './tenant-shares.ts'

/** A packet of a backlog. Long enough to fill packets, also when many tenants burst at the same time. */
const BACKLOG_PACKET = { maxMembers: 100, maxBytes: 256 * 1024, gatherMs: 25 }
/** Far below the broker's limit for unacknowledged messages (30 minutes). The events then go back into new packets. */
const END_WAITS_EVERY_MS = 300_000

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
  const shares = createTenantShares()
  /** Events that are handled directly. */
  const direct = createFairSemaphore<Line>(bounds.handled.direct)
  /** Events from backlogs, by the number of their backlog. The watch lets them in while workers keep up. */
  const fromBacklogs = createFairSemaphore<number>(bounds.handled.fromBacklogs, { isOpen: false })
  const publishFirst = createFirstAttempts(broker, deliveryShards)
  /** Deliveries that give way to those of other tenants. Their queues have no shards. */
  const publishYielding = createFirstAttempts(
    { publishDelivery: broker.publishYielding, publishPacket: broker.publishYieldingPacket },
    1,
  )
  const watch = startQueueWatch({ broker, deliveryShards, shares, direct, fromBacklogs })
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
    return shares.givesWay(delivery.tenant) ? publishYielding(delivery) : publishFirst(delivery)
  }

  /** Resolves to false if the tenant is deferred before the event begins. */
  const handleDirectly = (line: Line, { event, queue }: ReceivedEvent): Promise<boolean> =>
    direct.run(line, () => handle(event, publish, queue))

  async function pack({ event, content }: ReceivedEvent, backlog: number): Promise<true> {
    // The tenant's waiting events are packed, too: events that stay unacknowledged for long keep RabbitMQ from taking one
    // acknowledgement for many.
    direct.endWaitsOf(event.tenant)
    await packer.add({ ...event, content }, content.length, backlog)
    countDeferred()
    return true
  }

  /** Resolves to false if the event must be routed again. */
  async function route(received: ReceivedEvent): Promise<boolean> {
    if (received.isUnpacked) return await handleDirectly(UNPACKED, received)
    const { tenant } = received.event
    const taken = shares.route(tenant, watch.areDeliveriesLate())
    try {
      return taken.to === 'backlog' ? await pack(received, taken.backlog) : await handleDirectly(tenant, received)
    } finally {
      taken.end()
    }
  }

  async function take(received: ReceivedEvent): Promise<void> {
    if (!(await route(received))) await take(received)
  }

  async function handleFromBacklog(single: SingleEvent, backlog: number): Promise<number> {
    const event = parseContent(single.content, single)
    const deliveries = await handle(event, publishYielding, backlogQueue(backlog))
    shares.countRecent(event.tenant, deliveries)
    return deliveries
  }

  return {
    /** Handles an event directly, or stores it in its tenant's backlog. Resolved: the event may be acknowledged. */
    take,
    /** Takes an event of a packet that the api has published. */
    takeMember: async (single: SingleEvent, queue: string): Promise<void> => {
      const { content } = single
      await take({ queue, event: parseContent(content, single), content, isUnpacked: false })
    },
    /** Returns the function that takes the events of one packet of a backlog: each is handled, or packed again. */
    openBacklogPacket(backlog: number): (single: SingleEvent) => Promise<void> {
      const begin = whileNothingIsAway()
      return async (single) => {
        const isHandled = await fromBacklogs.run(backlog, () => begin(() => handleFromBacklog(single, backlog)))
        if (!isHandled) await packer.add(single, single.content.length, backlog)
      }
    },
    /** Ends the waits of events from backlogs, and all later ones. */
    stop: (): void => fromBacklogs.stop(),
    /** Call it once no event is in progress. */
    stopPolls: () => Promise.all(polls.map((poll) => poll.stop())),
  }
}

/**
 * Returns the function that begins the events of one packet. Once one has failed with Unavailable, it begins no other: all of
 * them need what is away.
 */
function whileNothingIsAway() {
  let failure: Unavailable | undefined
  return async (work: () => Promise<number>): Promise<number> => {
    if (failure !== undefined) throw failure
    try {
      return await work()
    } catch (error) {
      if (error instanceof Unavailable) failure = error
      throw error
    }
  }
}
