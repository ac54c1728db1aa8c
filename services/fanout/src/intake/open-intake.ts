import type { Delivery, PlatformEvent, Tenant } from '@switchhook/contracts'
import {
  type Broker,
  backlogQueues,
  createFinishedMembers,
  createPacker,
  deliveryShardOf,
  eventPackQueues,
  eventQueues,
  handleMembers,
  type IncomingMessage,
  openDeliveryPacket,
  openEventPack,
  type PackedDelivery,
  type Packet,
  Queue,
  type SingleEvent,
} from '@switchhook/messaging'
import type { Consume, Service } from '@switchhook/service'
import type { FanoutConfig } from '../config.ts'
import { createIntakeMeter } from '../events/fanout-meter.ts'
import { createFirstAttempts } from '../events/first-attempts.ts'
import { FairTurns } from './fair-turns.ts'
import { createIntake, type Line, parsePacked, parseReceivedEvent } from './intake.ts'
import { startQueueWatch } from './queue-watch.ts'
import { TenantShares } from './tenant-shares.ts'

/**
 * Events received and not acknowledged, for each that is being handled. In a burst most of them wait for the confirm of a
 * pack, so the window limits the events a second; with 512 events in all, `fanout.events` grew during a burst.
 */
const WINDOW_DEPTH = 32
/** The prefetch count of AMQP has 16 bits. */
const MAX_WINDOW = 65_535
/**
 * Longer than the confirm of a pack takes. In a burst, events of many packs end in any order; an acknowledgement for each
 * costs RabbitMQ half as much as the event itself.
 */
const HOLD_ACKS_MS = 100
/** Packs that are received per backlog: the next one is there when one is finished. */
const PACKS_AT_ONCE = 2
/** Of the concurrently handled events, those from backlogs. */
const BACKLOG_PART = 0.5

/** A pack of a backlog. Long enough to fill packs, also when many tenants burst at the same time. */
const BACKLOG_PACK = { maxMembers: 100, maxBytes: 256 * 1024, gatherMs: 25 }

const AGE_EVERY_MS = 1_000
/** Far below the broker's limit for unacknowledged messages (30 minutes). The events then go back into new packs. */
const END_WAITS_EVERY_MS = 300_000

export interface IntakeOptions extends Pick<Service<FanoutConfig>, 'config' | 'metrics' | 'log'> {
  readonly broker: Broker
  readonly consume: Consume
  readonly eventShards: number
  /** Creates the handler of an event from a function that publishes its deliveries and one that counts them. */
  readonly handling: (
    publish: (delivery: Delivery) => Promise<void>,
    charge: (tenant: Tenant, deliveries: number) => void,
  ) => (event: PlatformEvent) => Promise<void>
}

const openUntaken = (message: IncomingMessage) => ({
  packet: openDeliveryPacket(message),
  content: message.content,
  hasGivenWay: message.headers['x-first-death-queue'] === Queue.backlogPackets,
})

/** Consumes events, backlogs, and packets that no worker takes. Resolves once it consumes; the result stops it. */
export async function openIntake(options: IntakeOptions): Promise<() => Promise<void>> {
  const { config, broker, consume, eventShards, handling, metrics, log } = options
  const { FANOUT_CONCURRENCY: concurrency, DELIVERY_SHARDS: deliveryShards } = config
  const shares = new TenantShares()
  const direct = new FairTurns<Line>(concurrency)
  const backlog = new FairTurns<number>(Math.ceil(concurrency * BACKLOG_PART), { isOpen: false })

  const firstAttempts = createFirstAttempts({
    broker,
    shards: deliveryShards,
    arePacketsTaken: () => watch.arePacketsTaken(),
  })
  const released = createFirstAttempts({
    broker: {
      publishDelivery: (delivery) =>
        watch.isBacklogTaken() ? broker.publishBacklogged(delivery) : broker.publishDelivery(delivery),
      publishPacket: (deliveries) => broker.publishBackloggedPacket(deliveries),
    },
    shards: 1,
    arePacketsTaken: () => watch.areBacklogPacketsTaken(),
  })
  const watch = startQueueWatch({ broker, deliveryShards, shares, direct, backlog, firstAttempts, released })
  const aging = setInterval(() => shares.age(), AGE_EVERY_MS)
  const ending = setInterval(() => backlog.endWaits(), END_WAITS_EVERY_MS)
  for (const timer of [aging, ending]) timer.unref()

  const publishDirect = (delivery: Delivery): Promise<void> =>
    (shares.charge(delivery.tenant, 1) ? released : firstAttempts).publish(delivery)
  const intake = createIntake({
    shares,
    turns: direct,
    handle: handling(publishDirect, (tenant, deliveries) => direct.charge(tenant, deliveries)),
    packer: createPacker<SingleEvent>({ ...BACKLOG_PACK, publish: broker.publishPack }),
    areDeliveriesLate: watch.areDeliveriesLate,
    deferred: createIntakeMeter(metrics, () => shares.deferredTenants()),
  })
  const ofPack = { finished: createFinishedMembers<SingleEvent>(), publishAlone: broker.publishAlone, log }
  const handlePack = (pack: Packet<SingleEvent>): Promise<void> =>
    handleMembers(pack, {
      ...ofPack,
      handle: async (single) => await intake({ event: parsePacked(single), content: single.content, isAlone: false }),
    })
  const handleBacklogOf = (n: number): ((pack: Packet<SingleEvent>) => Promise<void>) => {
    const handle = handling(released.publish, (tenant, deliveries) => {
      shares.charge(tenant, deliveries)
      backlog.charge(n, deliveries)
    })
    const turns = {
      take: () => backlog.take(n),
      giveBack: () => backlog.giveBack(),
      putBack: (events: readonly SingleEvent[]) => broker.publishPack(events, n),
    }
    return (pack) =>
      handleMembers(pack, { ...ofPack, handle: async (single) => await handle(parsePacked(single)), turns })
  }
  const publishPacked = (delivery: PackedDelivery): Promise<void> => broker.publishPacked(delivery)
  const ofPacket = { finished: createFinishedMembers<PackedDelivery>(), publishAlone: publishPacked, log }
  async function handleUntaken({ packet, content, hasGivenWay }: ReturnType<typeof openUntaken>): Promise<void> {
    const subscription = packet.members[0]?.headers['sh-subscription-id']
    // Workers are only late. Single messages would make them later, and what gave way still does.
    if (hasGivenWay && watch.areBacklogPacketsTaken()) return await broker.publishBackloggedPacket(content)
    if (watch.arePacketsTaken() && typeof subscription === 'string') {
      return await broker.publishPacket(content, deliveryShardOf(subscription, deliveryShards))
    }
    await handleMembers(packet, { ...ofPacket, handle: publishPacked })
  }
  const eventsAtOnce = Math.min(MAX_WINDOW, Math.ceil((concurrency * WINDOW_DEPTH) / eventShards))
  // A pack has up to as many events as the window is deep.
  const packsAtOnce = Math.ceil(concurrency / eventShards)
  const consumers = await Promise.all([
    ...eventQueues(eventShards).map((queue) => consume(queue, eventsAtOnce, parseReceivedEvent, intake, HOLD_ACKS_MS)),
    ...eventPackQueues(eventShards).map((queue) =>
      consume(queue, packsAtOnce, openEventPack, handlePack, HOLD_ACKS_MS),
    ),
    ...backlogQueues.map((queue, n) => consume(queue, PACKS_AT_ONCE, openEventPack, handleBacklogOf(n))),
    consume(Queue.untakenPackets, PACKS_AT_ONCE, openUntaken, handleUntaken),
  ])
  return async () => {
    const drained = consumers.map((consumer) => consumer.drain())
    backlog.stop()
    await Promise.all(drained)
    for (const timer of [aging, ending]) clearInterval(timer)
    await watch.stop()
  }
}
