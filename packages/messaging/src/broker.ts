import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Delivery,
  type InstallationId,
  type OutcomeBatch,
  type ReceiverCheck,
  Unavailable,
} from '@switchhook/contracts'
import { answerWithin, type Logger, type Metrics } from '@switchhook/runtime'
import { createBrokerMeter } from './broker-meter.ts'
import { type ConsumeOptions, type ConsumerTiming, TIMING } from './consuming/consume-options.ts'
import { type Consumer, createConsumer, type QueueConsumer } from './consuming/consumer.ts'
import { openLink } from './link/link.ts'
import { type BrokerAddress, type Session, toError } from './link/session.ts'
import type { OutgoingMessage, Route } from './message/message.ts'
import type { PackedDelivery, SingleEvent } from './packets/packet.ts'
import {
  deliveryMessage,
  deliveryPacketMessage,
  eventPacketMessage,
  jsonMessage,
  markedBy,
  packedDeliveryMessage,
  unpackedEventMessage,
} from './publishing/messages.ts'
import { createPublishEvent } from './publishing/publish-event.ts'
import { createPublisher, type PublisherOptions } from './publishing/publisher.ts'
import { assertTopology, requireFormedCluster } from './topology/assert-topology.ts'
import { createQueueDepths } from './topology/queue-depths.ts'
import {
  backlogQueue,
  dueQueueFor,
  hasRoute,
  laneQueueFor,
  packetQueue,
  Queue,
  type Topology,
  waitQueueFor,
} from './topology/topology.ts'

export type Broker = Awaited<ReturnType<typeof openBroker>>

export interface BrokerOptions extends BrokerAddress, Pick<PublisherOptions, 'confirmTimeoutMs' | 'stuckAfterMs'> {
  readonly topology: Topology
  /** How many of the nodes in `url` must run before the queues of a new installation are declared. Default: 1. */
  readonly formedBy?: number
  readonly log: Logger
  /** Part of the connection names and consumer tags in RabbitMQ's management pages. */
  readonly name: string
  /** false: resolve immediately; publishing rejects until the broker is connected. */
  readonly waitUntilReady?: boolean
  readonly consumerTiming?: Partial<ConsumerTiming>
  /** Absent: nothing is counted. */
  readonly metrics?: Pick<Metrics, 'counter' | 'histogram' | 'gauge'>
  /** Called at each publish for the installation id in the message's header. Absent: messages carry none. */
  readonly installation?: () => InstallationId | undefined
}

/**
 * Waits for the broker without a limit, and logs a warning while it waits. Publishing and consuming have a connection
 * each: a broker in alarm stops reading from publishers, and acknowledgements must still arrive.
 * Each publish resolves once the message is stored, and otherwise rejects, with Unavailable unless it is a bug.
 */
export async function openBroker(options: BrokerOptions) {
  const { topology, formedBy = 1, log, name, waitUntilReady = true, metrics, installation = () => undefined } = options
  const timing: ConsumerTiming = { ...TIMING, ...options.consumerTiming }
  const consumers = new Set<QueueConsumer>()
  let change = Promise.withResolvers<void>()
  let closed = false
  let isDeclaring = false

  const isReady = (): boolean =>
    publishing.session() !== undefined && consuming.session() !== undefined && !publisher.isBlocked()

  const changed = (): void => {
    if (!closed && !isReady()) return
    change.resolve()
    change = Promise.withResolvers()
  }

  async function ready(): Promise<void> {
    if (closed) throw new Unavailable('rabbitmq', 'the connection to RabbitMQ was closed')
    if (isReady()) return
    await change.promise
    return await ready()
  }

  const meter =
    metrics &&
    createBrokerMeter(metrics, {
      consumersPaused: () => [...consumers].filter((consumer) => consumer.isPaused()).length,
      messagesInFlight: () => [...consumers].reduce((sum, consumer) => sum + consumer.inFlight(), 0),
    })
  const received = (): number => [...consumers].reduce((sum, consumer) => sum + consumer.received(), 0)
  const publisher = createPublisher({ ...options, changed, returned, meter })
  const open = (purpose: string, attach: (session: Session) => Promise<void>) =>
    openLink({
      ...options,
      name: `${name} ${purpose}`,
      changed,
      setUp: async (session) => {
        await requireFormedCluster(session.model, options, formedBy)
        await assertTopology(session.model, topology)
        await attach(session)
      },
    })
  const publishing = open('publish', (session) => publisher.attach(session))
  const consuming = open('consume', attachAll)
  const checking = setInterval(() => {
    const session = consuming.session()
    if (session !== undefined) for (const consumer of consumers) void consumer.check(session)
  }, timing.checkMs).unref()
  if (waitUntilReady) await ready()
  const { shards = { deliveries: 1, events: 1 } } = topology

  const queueDepths = createQueueDepths(consuming.session)
  const publish = (message: OutgoingMessage) => publisher.publish(markedBy(installation(), message))
  const publishEvent = createPublishEvent({
    publish,
    publishCopy: (copy) => publisher.publishCopy(markedBy(installation(), copy)),
    shards: shards.events,
    copyFailed: () => meter?.failed('copy'),
  })
  return {
    /** Both connections are set up, and the publisher is not blocked. */
    isReady,
    /**
     * The broker has confirmed every consumer, and no check has missed one since. False while a consumer is paused or
     * missing. True for a service without consumers.
     */
    isConsuming: () => [...consumers].every((consumer) => consumer.isConsuming(consuming.session())),
    /** Resolves when `isReady` holds. @throws Unavailable once the broker is closed */
    ready,
    /**
     * Stores the event in fan-out's queue, and a copy in each queue that other systems have bound and that accepts it. Events of
     * one iteration of the event loop, and of up to 5 ms while RabbitMQ is busy, share messages. If it rejects, the event
     * may be stored.
     */
    publishEvent,
    /** For an immediate attempt. */
    publishDelivery: (delivery: Delivery) =>
      publish(deliveryMessage(delivery, dueQueueFor(delivery.subscriptionId, shards.deliveries))),
    /** To wait for a turn. The topology must have `LANES` lanes. */
    publishToLane: (delivery: Delivery) => publish(deliveryMessage(delivery, laneQueueFor(delivery.subscriptionId))),
    /** For an attempt after `waitMs`, which must be a wait of the topology. */
    publishRetry: (delivery: Delivery, waitMs: number) =>
      publish(deliveryMessage(delivery, waitQueueFor(delivery.subscriptionId, waitMs, shards.deliveries))),
    /** For an attempt that gives way while others are due. */
    publishYielding: (delivery: Delivery) => publish(deliveryMessage(delivery, Queue.yielding)),
    /** For immediate first attempts that share a message. All of them belong to this shard (`deliveryShardOf`). */
    publishPacket: (packet: readonly Delivery[], shard: number) =>
      publish(deliveryPacketMessage(packet, packetQueue(shard))),
    /** Like `publishYielding`, for deliveries that share a message. */
    publishYieldingPacket: (packet: readonly Delivery[]) =>
      publish(deliveryPacketMessage(packet, Queue.yieldingPackets)),
    /** For an immediate attempt of a delivery that leaves its packet. @param queue by default its due queue */
    publishUnpackedDelivery: (
      delivery: PackedDelivery,
      queue = dueQueueFor(String(delivery.headers['sh-subscription-id']), shards.deliveries),
    ) => publish(packedDeliveryMessage(delivery, queue)),
    /** Stores events that share a message in a queue of the topology's backlogs. */
    publishEventPacket: (events: readonly SingleEvent[], backlog: number) =>
      publish(eventPacketMessage(events, backlogQueue(backlog))),
    /** Sends an event that leaves its packet to fan-out's queue. It is not packed again. */
    publishUnpackedEvent: (event: SingleEvent) => publish(unpackedEventMessage(event)),
    /** @throws Unavailable */
    queueDepths,
    publishCheck: (check: ReceiverCheck) =>
      publish(jsonMessage(Queue.receiverChecks, check, check.checkId, 'receiver.check')),
    publishOutcomes: (batch: OutcomeBatch) =>
      publish(jsonMessage(Queue.reportedOutcomes, batch, batch.batchId, 'delivery.outcomes')),
    /**
     * Resolves once the consumer is attached, or the connection has failed: the next one attaches it. Consuming continues
     * across reconnections until the consumer is drained.
     */
    consume: async <T>(ofQueue: ConsumeOptions<T>): Promise<Consumer> => {
      const consumer = createConsumer(ofQueue, {
        log,
        name,
        publish: (message) => publisher.publish(message),
        brokerReady: ready,
        received,
        meter,
        timing,
      })
      consumers.add(consumer)
      await ready()
      const session = consuming.session()
      if (session !== undefined) await consumer.attach(session)
      return consumer
    },
    /** Drain the consumers first: messages in flight are redelivered. */
    close: async () => {
      closed = true
      clearInterval(checking)
      changed()
      for (const consumer of consumers) consumer.stop()
      await Promise.all([consuming.close(), publishing.close()])
    },
  }

  /** A queue or binding was deleted, and no cancelled consumer reports it. Declare it soon, not at the next connection. */
  function returned({ exchange, routingKey }: Route): void {
    if (!hasRoute(topology, exchange, routingKey)) return
    const session = publishing.session()
    if (isDeclaring || session === undefined) return
    isDeclaring = true
    log.warn('a queue or binding is missing; declaring it again', { exchange, routingKey })
    sleep(timing.redeclareAfterMs, undefined, { ref: false })
      .then(() => assertTopology(session.model, topology))
      .catch((error: unknown) => session.fail(toError(error)))
      .finally(() => {
        isDeclaring = false
      })
  }

  /** A consumer that is refused fails the set-up, whose repetitions back off. Queues that do not answer cannot use up its time. */
  async function attachAll(session: Session): Promise<void> {
    const attached = Promise.all([...consumers].map((consumer) => consumer.attach(session)))
    await answerWithin(timing.attachMs, attached, 'some consumers are still being attached').catch(() => {})
  }
}
