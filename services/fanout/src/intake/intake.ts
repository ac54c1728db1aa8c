import { type Delivery, type PlatformEvent, parseEvent, type Tenant } from '@switchhook/contracts'
import {
  type Broker,
  backlogQueue,
  createPacker,
  type IncomingMessage,
  type SingleEvent,
  UNPACKED_HEADER,
} from '@switchhook/messaging'
import type { FirstAttempts } from '../events/first-attempts.ts'
import { parseEventMessage } from '../events/handle-event.ts'
import type { HandleFromQueue } from '../events/trace-events.ts'
import type { FairSemaphore } from './fair-semaphore.ts'
import type { TenantShares } from './tenant-shares.ts'

/** A packet of a backlog. Long enough to fill packets, also when many tenants burst at the same time. */
const BACKLOG_PACKET = { maxMembers: 100, maxBytes: 256 * 1024, gatherMs: 25 }
/** Far below the broker's limit for unacknowledged messages (30 minutes). The events then go back into new packets. */
export const END_WAITS_EVERY_MS = 300_000

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

/** The line of events that came out of packets. It has no tenant, because the waits of a deferred tenant end. */
const UNPACKED = Symbol('unpacked')

export type Line = Tenant | typeof UNPACKED

interface IntakeDeps {
  readonly shares: TenantShares
  /** Limits the events that are handled directly. */
  readonly direct: FairSemaphore<Line>
  /** Limits the events from backlogs. */
  readonly fromBacklogs: FairSemaphore<number>
  readonly handle: HandleFromQueue
  readonly firstAttempts: Pick<FirstAttempts, 'publish'>
  /** Publishes deliveries that give way to those of other tenants. */
  readonly yielding: Pick<FirstAttempts, 'publish'>
  readonly broker: Pick<Broker, 'publishEventPacket'>
  /** More deliveries are due than workers take. */
  readonly areDeliveriesLate: () => boolean
  /** Called with each event that its backlog has stored. */
  readonly deferred: () => void
}

export type Intake = ReturnType<typeof createIntake>

/** Decides whether an event is handled directly or stored in its tenant's backlog, and which deliveries give way to others. */
export function createIntake(deps: IntakeDeps) {
  const { shares, direct, fromBacklogs, handle, firstAttempts, yielding, broker, areDeliveriesLate, deferred } = deps
  const packer = createPacker<SingleEvent>({ ...BACKLOG_PACKET, publish: broker.publishEventPacket })

  function publish(delivery: Delivery): Promise<void> {
    shares.charge(delivery.tenant, 1)
    return (shares.givesWay(delivery.tenant) ? yielding : firstAttempts).publish(delivery)
  }

  /** Resolves to false if the wait to begin was ended. */
  async function handleDirectly({ event, queue }: ReceivedEvent, line: Line): Promise<boolean> {
    if (!(await direct.acquire(line))) return false
    try {
      direct.charge(event.tenant, await handle(event, publish, queue))
      return true
    } finally {
      direct.release()
    }
  }

  async function pack({ event, content }: ReceivedEvent, n: number): Promise<true> {
    // Events that stay unacknowledged for long keep RabbitMQ from taking one acknowledgement for many.
    direct.endWaitsOf(event.tenant)
    await packer.add({ ...event, content }, content.length, n)
    deferred()
    return true
  }

  async function take(received: ReceivedEvent): Promise<void> {
    const { tenant } = received.event
    if (received.isUnpacked) {
      if (await handleDirectly(received, UNPACKED)) return
      throw new Error('an event that left its packet was not handled')
    }
    // The wait is ended when the tenant is deferred. The next route then leads to its backlog.
    for (let isTaken = false; !isTaken; ) {
      const { backlog: n, end } = shares.route(tenant, areDeliveriesLate())
      isTaken = await (n === undefined ? handleDirectly(received, tenant) : pack(received, n)).finally(end)
    }
  }

  return {
    /** Handles an event directly, or stores it in its tenant's backlog. Resolved: the event may be acknowledged. */
    take,
    /** Takes an event of a packet that the api has published. */
    takeMember: (single: SingleEvent, queue: string): Promise<void> =>
      take({ queue, event: parsePacked(single), content: single.content, isUnpacked: false }),
    /** How the members of packets of backlog `n` are handled. */
    ofBacklog: (n: number) => ({
      async handle(single: SingleEvent): Promise<void> {
        const event = parsePacked(single)
        const deliveries = await handle(event, yielding.publish, backlogQueue(n))
        shares.charge(event.tenant, deliveries)
        fromBacklogs.charge(n, deliveries)
      },
      limit: {
        acquire: () => fromBacklogs.acquire(n),
        release: () => fromBacklogs.release(),
        putBack: (events: readonly SingleEvent[]) => broker.publishEventPacket(events, n),
      },
    }),
    /** Ends the waits of events from backlogs, and all later ones. */
    stop: (): void => fromBacklogs.stop(),
  }
}
