import { type PlatformEvent, parseEvent, type Tenant } from '@switchhook/contracts'
import {
  ALONE_HEADER,
  type Broker,
  backlogQueues,
  type Consumer,
  createFinishedMembers,
  createPacker,
  eventPacketQueues,
  eventQueues,
  handleMembers,
  type IncomingMessage,
  openEventPacket,
  type Packer,
  type Packet,
  type SingleEvent,
} from '@switchhook/messaging'
import type { Consume, Service } from '@switchhook/service'
import type { FanoutConfig } from '../config.ts'
import { createFirstAttempts } from '../events/first-attempts.ts'
import { type HandleEvent, parseEventMessage } from '../events/handle-event.ts'
import { FairTurns } from './fair-turns.ts'
import { startQueueWatch } from './queue-watch.ts'
import { TenantShares } from './tenant-shares.ts'

/** Of the concurrently handled events, those from backlogs. */
const BACKLOG_PART = 0.5
/** A packet of a backlog. Long enough to fill packets, also when many tenants burst at the same time. */
const BACKLOG_PACKET = { maxMembers: 100, maxBytes: 256 * 1024, gatherMs: 25 }
const AGE_EVERY_MS = 1_000
/** Far below the broker's limit for unacknowledged messages (30 minutes). The events then go back into new packets. */
const END_WAITS_EVERY_MS = 300_000

interface IntakeOptions extends Pick<Service<FanoutConfig>, 'config' | 'log'> {
  readonly broker: Broker
  readonly consume: Consume
  readonly eventShards: number
  readonly handle: HandleEvent
  /** Counts the tenants that are deferred, and with the result each event that its backlog has stored. */
  readonly meterDeferred: (tenants: () => number) => () => void
}

/** Consumes events and backlogs. Resolves once it consumes; the result stops it. */
export async function openIntake(options: IntakeOptions): Promise<() => Promise<void>> {
  const { config, broker, handle, meterDeferred } = options
  const { FANOUT_CONCURRENCY: concurrency, DELIVERY_SHARDS: deliveryShards } = config
  const shares = new TenantShares()
  const direct = new FairTurns<Line>(concurrency)
  const backlog = new FairTurns<number>(Math.ceil(concurrency * BACKLOG_PART), { isOpen: false })

  const firstAttempts = createFirstAttempts({ broker, shards: deliveryShards })
  const { publishBacklogged: publishDelivery, publishBackloggedPacket: publishPacket } = broker
  const backlogged = createFirstAttempts({ broker: { publishDelivery, publishPacket }, shards: 1 })
  const watch = startQueueWatch({ broker, deliveryShards, shares, direct, backlog, firstAttempts, backlogged })
  const timers = [
    setInterval(() => shares.age(), AGE_EVERY_MS).unref(),
    setInterval(() => backlog.endWaits(), END_WAITS_EVERY_MS).unref(),
  ]

  const publishDirect: Parameters<HandleEvent>[1] = (delivery) =>
    (shares.charge(delivery.tenant, 1) ? backlogged : firstAttempts).publish(delivery)
  const intake = createIntake({
    shares,
    turns: direct,
    handle: (event) => handle(event, publishDirect),
    packer: createPacker<SingleEvent>({ ...BACKLOG_PACKET, publish: broker.publishEventPacket }),
    areDeliveriesLate: watch.areDeliveriesLate,
    deferred: meterDeferred(() => shares.deferredTenants()),
  })
  async function handleBacklogged(single: SingleEvent, n: number): Promise<void> {
    const event = parsePacked(single)
    const deliveries = await handle(event, backlogged.publish)
    shares.charge(event.tenant, deliveries)
    backlog.charge(n, deliveries)
  }
  const consumers = await startConsuming(options, intake, backlog, handleBacklogged)
  return async () => {
    const drained = consumers.map((consumer) => consumer.drain())
    backlog.stop()
    await Promise.all(drained)
    for (const timer of timers) clearInterval(timer)
    await watch.stop()
  }
}

/**
 * Events received and not acknowledged, for each that is being handled. In a burst most of them wait for the confirm of a
 * packet, so the window limits the events a second; with 512 events in all, `fanout.events` grew during a burst.
 */
const WINDOW_DEPTH = 32
/** The prefetch count of AMQP has 16 bits. */
const MAX_WINDOW = 65_535
/**
 * Longer than the confirm of a packet takes. In a burst, events of many packets end in any order; an acknowledgement for each
 * costs RabbitMQ half as much as the event itself.
 */
const ACK_DELAY_MS = 100
/** Packets that are received per backlog: the next one is there when one is finished. */
const PACKETS_AT_ONCE = 2

/** Consumes events, the packets of events, and the backlogs, whose members wait for a turn. */
function startConsuming(
  { config, broker, consume, eventShards, log }: IntakeOptions,
  intake: ReturnType<typeof createIntake>,
  backlog: FairTurns<number>,
  handleBacklogged: (single: SingleEvent, n: number) => Promise<void>,
): Promise<readonly Consumer[]> {
  const ofPackets = { finished: createFinishedMembers<SingleEvent>(), publishAlone: broker.publishAlone, log }
  const handlePacket = (packet: Packet<SingleEvent>): Promise<void> =>
    handleMembers(packet, {
      ...ofPackets,
      handle: async (single) => await intake({ event: parsePacked(single), content: single.content, isAlone: false }),
    })
  const handleBacklogOf = (n: number) => {
    const turns = {
      take: () => backlog.take(n),
      giveBack: () => backlog.giveBack(),
      putBack: (events: readonly SingleEvent[]) => broker.publishEventPacket(events, n),
    }
    return (packet: Packet<SingleEvent>): Promise<void> =>
      handleMembers(packet, { ...ofPackets, handle: (single) => handleBacklogged(single, n), turns })
  }
  const eventsAtOnce = Math.min(MAX_WINDOW, Math.ceil((config.FANOUT_CONCURRENCY * WINDOW_DEPTH) / eventShards))
  // A packet has up to as many events as the window is deep.
  const packetsAtOnce = Math.ceil(config.FANOUT_CONCURRENCY / eventShards)
  return Promise.all([
    ...eventQueues(eventShards).map((queue) =>
      consume({
        queue,
        concurrency: eventsAtOnce,
        parse: parseReceivedEvent,
        handle: intake,
        ackDelayMs: ACK_DELAY_MS,
      }),
    ),
    ...eventPacketQueues(eventShards).map((queue) =>
      consume({
        queue,
        concurrency: packetsAtOnce,
        parse: openEventPacket,
        handle: handlePacket,
        ackDelayMs: ACK_DELAY_MS,
      }),
    ),
    ...backlogQueues.map((queue, n) =>
      consume({ queue, concurrency: PACKETS_AT_ONCE, parse: openEventPacket, handle: handleBacklogOf(n) }),
    ),
  ])
}

type ReceivedEvent = ReturnType<typeof parseReceivedEvent>

/** @throws Unparsable as `parseEventMessage` */
const parseReceivedEvent = (message: IncomingMessage) => ({
  event: parseEventMessage(message),
  content: message.content,
  /** It came out of a packet and must not be packed again. */
  isAlone: message.headers[ALONE_HEADER] === true,
})

/** @throws Unparsable for a member of a packet that is not an event */
const parsePacked = ({ content, traceparent, revision }: SingleEvent): PlatformEvent => ({
  ...parseEvent(content),
  ...(traceparent !== undefined && { traceparent }),
  ...(revision !== undefined && { revision }),
})

/** The line of events that came out of packets. It has no tenant, because the waits of a deferred tenant end. */
const ALONE = Symbol('alone')

export type Line = Tenant | typeof ALONE

interface IntakeDeps {
  readonly shares: TenantShares
  readonly turns: FairTurns<Line>
  /** Resolves to the number of deliveries. */
  readonly handle: (event: PlatformEvent) => Promise<number>
  readonly packer: Pick<Packer<SingleEvent>, 'add'>
  /** More deliveries are due than workers take. */
  readonly areDeliveriesLate: () => boolean
  /** Called with each event that its backlog has stored. */
  readonly deferred: () => void
}

/** Handles an event directly, or stores it in its tenant's backlog. Resolved: the event may be acknowledged. */
export function createIntake({ shares, turns, handle, packer, areDeliveriesLate, deferred }: IntakeDeps) {
  /** Resolves to false if the event did not get a turn. */
  async function handleInTurn(event: PlatformEvent, line: Line): Promise<boolean> {
    if (!(await turns.take(line))) return false
    try {
      turns.charge(event.tenant, await handle(event))
      return true
    } finally {
      turns.giveBack()
    }
  }

  async function pack({ event, content }: ReceivedEvent, backlog: number): Promise<void> {
    const { tenant, eventType, traceparent } = event
    const single = { content, eventType, ...(traceparent !== undefined && { traceparent }) }
    await packer.add(single, content.length, backlog).finally(() => shares.packed(tenant))
    deferred()
  }

  return async function take(received: ReceivedEvent): Promise<void> {
    const { event, isAlone } = received
    const { tenant } = event
    if (isAlone) {
      if (await handleInTurn(event, ALONE)) return
      throw new Error('an event that must be handled alone got no turn')
    }
    const backlog = shares.route(tenant, areDeliveriesLate())
    if (backlog !== undefined) {
      // Events that stay unacknowledged for long keep RabbitMQ from taking one acknowledgement for many.
      turns.endWaitsOf(tenant)
      return await pack(received, backlog)
    }
    const isHandled = await handleInTurn(event, tenant).finally(() => shares.finished(tenant))
    if (!isHandled) await take(received)
  }
}
