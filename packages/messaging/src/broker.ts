import {
  type Delivery,
  type InstallationId,
  type PlatformEvent,
  type ReceiverCheck,
  Unavailable,
} from '@switchhook/contracts'
import {
  CHECK_INTERVAL_MS,
  type ConsumeOptions,
  type Consumer,
  type ConsumerTiming,
  QueueConsumer,
} from './consuming/consumer.ts'
import { type Link, openLink } from './link/link.ts'
import { toError } from './link/to-error.ts'
import type { Log } from './log.ts'
import { createBrokerMeter, type Meters, NO_METER } from './meters.ts'
import { checkMessage, copyOf, deliveryMessage, eventMessage } from './publishing/messages.ts'
import { Publisher, type Route } from './publishing/publisher.ts'
import { assertTopology } from './topology/assert-topology.ts'
import { dueQueueFor, hasRoute, laneQueue, shardsOf, type Topology, waitQueue } from './topology/topology.ts'

/** All that a service does with RabbitMQ. Each publish resolves once the message is stored, else rejects with Unavailable. */
export interface Broker {
  /** Both connections are up and set up, and the publisher is not blocked. */
  isReady(): boolean
  /**
   * Every consumer has a confirmed place on its queue, as far as the broker shows. False for a service that consumes while
   * one of its consumers pauses or is missing.
   */
  isConsuming(): boolean
  /** Resolves when it is, or is again, ready. @throws Unavailable once it is closed. */
  ready(): Promise<void>
  /** The event is in fan-out's queue, and a copy in each queue of others on the public exchange that took it. */
  publishEvent(event: PlatformEvent): Promise<void>
  /** To be attempted at once. */
  publishDelivery(delivery: Delivery): Promise<void>
  /** To be attempted after a wait, which must be one of the topology. */
  publishRetry(delivery: Delivery, waitMs: number): Promise<void>
  /** To wait for a turn in a lane, which must be one of the topology. */
  publishAside(delivery: Delivery, lane: number): Promise<void>
  publishCheck(check: ReceiverCheck): Promise<void>
  /** Resolves once consuming has begun. It goes on over every reconnection until the consumer is drained. */
  consume<T>(options: ConsumeOptions<T>): Promise<Consumer>
  /** Drain the consumers first: what is in hand now is handed out again. */
  close(): Promise<void>
}

export interface BrokerOptions {
  /** Several: the nodes of one cluster, tried in turn. */
  readonly url: string | readonly string[]
  readonly topology: Topology
  readonly log: Log
  /** Shown by the broker's management. */
  readonly name: string
  /** false: resolve at once, although publishing rejects until the broker is there. */
  readonly waitUntilReady?: boolean
  readonly confirmTimeoutMs?: number
  readonly stuckAfterMs?: number
  readonly consumerTiming?: ConsumerTiming
  readonly metrics?: Meters
  /** The id that each published message carries in a header; asked at each publish. Absent: messages carry none. */
  readonly installation?: () => InstallationId
}

/**
 * Resolves once the broker is there, however long that takes, and logs a warning while it waits. Publishing and
 * consuming have a connection each: a broker in alarm stops reading from publishers, and acks must still get through.
 */
export async function openBroker({
  url,
  topology,
  log,
  name,
  waitUntilReady = true,
  confirmTimeoutMs,
  stuckAfterMs,
  consumerTiming,
  metrics,
  installation,
}: BrokerOptions): Promise<Broker> {
  const links: Link[] = []
  const consumers = new Set<Attachable>()
  const waiting = new Set<() => void>()
  let closed = false
  let healing = false

  const isReady = (): boolean =>
    links.length === 2 && links.every((link) => link.session() !== undefined) && !publisher.isBlocked()

  const changed = (): void => {
    if (!closed && !isReady()) return
    for (const wake of waiting) wake()
    waiting.clear()
  }

  async function ready(): Promise<void> {
    if (closed) throw new Unavailable('rabbitmq', 'the connection to RabbitMQ was closed')
    if (isReady()) return
    await new Promise<void>((resolve) => {
      waiting.add(resolve)
    })
    return await ready()
  }

  const meter =
    metrics === undefined
      ? NO_METER
      : createBrokerMeter(metrics, {
          consumersPaused: () => [...consumers].filter((consumer) => consumer.isPaused()).length,
          messagesInHand: () => [...consumers].reduce((sum, consumer) => sum + consumer.inFlight(), 0),
        })
  const publisher = new Publisher({
    changed,
    returned,
    meter,
    ...(confirmTimeoutMs !== undefined && { confirmTimeoutMs }),
    ...(stuckAfterMs !== undefined && { stuckAfterMs }),
  })
  const publishing = await openLink({
    url,
    name: `${name} publish`,
    log,
    changed,
    setUp: async (session) => {
      await assertTopology(session, topology)
      await publisher.attach(session)
    },
  })
  const consuming = await openLink({
    url,
    name: `${name} consume`,
    log,
    changed,
    setUp: async (session) => {
      await assertTopology(session, topology)
      for (const consumer of consumers) await consumer.attach(session)
    },
  })
  links.push(publishing, consuming)
  const checking = setInterval(() => {
    for (const consumer of consumers) void consumer.check(consuming.session())
  }, consumerTiming?.checkMs ?? CHECK_INTERVAL_MS)
  checking.unref()
  if (waitUntilReady) await ready()
  const shards = shardsOf(topology)

  return {
    isReady,
    isConsuming: () => [...consumers].every((consumer) => consumer.isConsuming(consuming.session())),
    ready,
    publishEvent: async (event) => {
      const message = eventMessage(event, installation?.())
      await Promise.all([publisher.publish(message), publisher.publishCopy(copyOf(message))])
    },
    publishDelivery: (delivery) =>
      publisher.publish(deliveryMessage(delivery, dueQueueFor(delivery.subscriptionId, shards), installation?.())),
    publishAside: (delivery, lane) => publisher.publish(deliveryMessage(delivery, laneQueue(lane), installation?.())),
    publishRetry: (delivery, waitMs) =>
      publisher.publish(deliveryMessage(delivery, waitQueue(waitMs), installation?.())),
    publishCheck: (check) => publisher.publish(checkMessage(check, installation?.())),
    consume: async <T>(options: ConsumeOptions<T>) => {
      const consumer = new QueueConsumer(options, {
        log,
        name,
        publish: (message) => publisher.publish(message),
        brokerReady: ready,
        copyArrived: () => declareAgain('a former version bound fanout.events again; the binding is removed'),
        meter,
        ...(consumerTiming !== undefined && { timing: consumerTiming }),
      })
      consumers.add(consumer)
      await attachNow(consumer)
      return {
        inFlight: () => consumer.inFlight(),
        drain: async () => {
          await consumer.drain()
          consumers.delete(consumer)
        },
      }
    },
    close: async () => {
      closed = true
      clearInterval(checking)
      changed()
      for (const consumer of consumers) consumer.stop()
      await Promise.all([consuming.close(), publishing.close()])
    },
  }

  /** A queue or binding was deleted, and no cancelled consumer reports it: declare it before the next connection does. */
  function returned({ exchange, routingKey }: Route): void {
    if (!hasRoute(topology, exchange, routingKey)) return
    declareAgain('a queue is gone; it is declared again', { exchange, routingKey })
  }

  function declareAgain(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const session = publishing.session()
    if (healing || session === undefined) return
    healing = true
    log.warn(message, fields)
    assertTopology(session, topology)
      .catch((error: unknown) => session.fail(toError(error)))
      .finally(() => {
        healing = false
      })
  }

  /** A connection that is lost meanwhile does no harm: the next one's set-up attaches every consumer. */
  async function attachNow(consumer: Attachable): Promise<void> {
    await ready()
    const session = consuming.session()
    if (session === undefined) return await attachNow(consumer)
    await consumer.attach(session).catch((error: unknown) => session.fail(toError(error)))
  }
}

/** A consumer of whatever type of message. */
type Attachable = Pick<QueueConsumer<unknown>, 'attach' | 'check' | 'inFlight' | 'isConsuming' | 'isPaused' | 'stop'>
