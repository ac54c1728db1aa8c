import type { Logger } from '@switchhook/runtime'
import type { BrokerMeter } from '../broker-meter.ts'
import type { IncomingMessage, OutgoingMessage } from '../message/message.ts'

export interface ConsumeOptions<T> {
  readonly queue: string
  /**
   * @throws Unparsable for a message that can never be parsed: it is moved to quarantine, with the reason
   * @throws Unavailable with the same effect as in `handle`
   */
  readonly parse: (message: IncomingMessage) => T
  /**
   * Resolved: the message is acknowledged. Rejected with Unavailable: a dependency is down. If the dependencies answer all
   * the same, only this message waits; otherwise the consumer pauses. Then this message is retried, with the same content.
   * Rejected with any other error: a bug; only this message waits for a moment and is returned to the queue, whose delivery
   * limit finally moves it to quarantine.
   */
  readonly handle: (value: T) => Promise<void>
  /** Limit of messages that are handled at the same time, and of unacknowledged ones. */
  readonly concurrency: number
  /**
   * How long the acknowledgement of a message may wait for those of earlier messages, so that one covers them all. Until
   * then the message counts towards `concurrency`. Default: 0.
   */
  readonly ackDelayMs?: number
  /** Called before and in each pause. Resolves when the dependencies of `handle` work again; the broker is checked separately. */
  readonly recovered: () => Promise<void>
}

export interface ConsumerDeps {
  readonly log: Logger
  readonly publish: (message: OutgoingMessage) => Promise<void>
  readonly brokerReady: () => Promise<void>
  /** The first part of the consumer tags, which names the process in RabbitMQ's management pages. */
  readonly name: string
  /** Messages that all consumers of the process have received. */
  readonly received: () => number
  readonly timing: ConsumerTiming
  readonly meter?: Pick<BrokerMeter, 'paused' | 'quarantined'> | undefined
}

export type ConsumerTiming = Readonly<typeof TIMING>

export const TIMING = {
  /** Also how long `recovered` may take before a pause begins. */
  firstPauseMs: 1_000,
  longestPauseMs: 30_000,
  /**
   * How long a failed message is kept for a retry. Before RabbitMQ 4.3 its return counts towards the delivery limit, so an
   * outage costs at most one delivery per such time. Must stay far below the broker's limit for unacknowledged messages (30 minutes).
   */
  retryForMs: 300_000,
  /** How long a message that hits a bug waits before its return, so that it does not loop. */
  bugDelayMs: 1_000,
  /**
   * The time limit of the broker's answer to a consume, cancel or check. A channel is given up after a cancel that is not
   * answered, or when the checks miss its consumer.
   */
  answerMs: 10_000,
  /** How long the set-up of a connection waits for its consumers. The others continue to attach after it. */
  attachMs: 2_000,
  /**
   * How long a queue that was deleted is left missing. RabbitMQ cancels its consumers a moment after the deletion. If the queue
   * exists again by then, it moves them to the new queue without a notice, and there they receive nothing.
   */
  redeclareAfterMs: 2_000,
  /** How often the broker is asked for each consumer. */
  checkMs: 15_000,
}

/**
 * The longest time that a message stays unacknowledged because a dependency is down. It may enter its last pause just
 * before `retryForMs` ends, and that pause may last as long again.
 */
export const MAX_UNACKED_MS = 2 * TIMING.retryForMs + TIMING.answerMs
