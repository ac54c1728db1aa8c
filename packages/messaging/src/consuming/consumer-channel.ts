import { answerWithin, NotAnswered } from '@switchhook/runtime'
import type { Channel, ConsumeMessage } from 'amqplib'
import { closeInTime, type Session, toError } from '../link/session.ts'
import { type AckBatch, createAckBatch } from './ack-batch.ts'
import type { ConsumeOptions } from './consume-options.ts'

export interface ConsumerChannelOptions
  extends Required<Pick<ConsumeOptions<unknown>, 'queue' | 'concurrency' | 'ackDelayMs'>> {
  /** After this long without an answer, this channel is given up. */
  readonly answerMs: number
  /** How long after a cancel by the broker the session fails. The next connection declares the queue. */
  readonly redeclareAfterMs: number
  readonly take: (message: ConsumeMessage, from: ConsumerChannel) => void
  readonly closed: (channel: ConsumerChannel) => void
  /** The broker did not answer the cancel, so it may send further messages on this channel. */
  readonly unanswered: () => void
}

/** A queue and its consumer at one moment, as seen by the broker and by this channel. */
export interface Sighting {
  /** Consumers of the queue, those of other processes included. */
  readonly consumers: number
  readonly ready: number
  /** Messages received on this channel since it was opened. */
  readonly taken: number
  readonly hasRoom: boolean
}

/** How long the broker may take to close a channel that was given up, as a multiple of `answerMs`. */
const ANSWERS_TO_ABANDON = 3

/**
 * One queue's consumer on one channel of one connection. The consumer tag and the acknowledgements belong to the
 * channel, never to the next one. If the broker refuses a request or closes the channel, the session fails and the link
 * reconnects: the next connection declares the topology again. A queue that does not answer costs only this channel.
 */
export class ConsumerChannel {
  readonly session: Session
  readonly #channel: Channel
  readonly #options: ConsumerChannelOptions
  readonly #acks: AckBatch
  #tag: string | undefined
  #isConsuming = false
  #isRetired = false
  #inFlight = 0
  #taken = 0

  static async open(session: Session, options: ConsumerChannelOptions): Promise<ConsumerChannel> {
    const opening = session.model.createChannel().then(async (channel) => {
      const opened = new ConsumerChannel(session, channel, options)
      await channel.prefetch(options.concurrency)
      return opened
    })
    return await answerWithin(options.answerMs, opening, `RabbitMQ opened no channel for ${options.queue}`)
  }

  private constructor(session: Session, channel: Channel, options: ConsumerChannelOptions) {
    this.session = session
    this.#channel = channel
    this.#options = options
    this.#acks = createAckBatch(channel, options.concurrency, options.ackDelayMs)
    channel.on('error', session.fail)
    channel.on('close', () => {
      if (this.#isRetired) return
      session.fail(new Error(`the channel that consumes ${options.queue} was closed`))
      this.retire()
      options.closed(this)
    })
  }

  /** The broker has confirmed the consumer on this channel, and nothing has cancelled it since. */
  isConsuming(): boolean {
    return this.#isConsuming && !this.#isRetired
  }

  /** This channel is lost or replaced: the broker redelivers its unacknowledged messages elsewhere. */
  isRetired(): boolean {
    return this.#isRetired
  }

  /** Sends the acknowledgements so far. The channel then sends neither acknowledgements nor returns. */
  retire(): void {
    this.#isRetired = true
    this.#acks.close()
  }

  async subscribe(tag: string): Promise<void> {
    if (this.#tag !== undefined || this.#isRetired) return
    const { queue, answerMs, take } = this.#options
    this.#tag = tag
    const receive = (message: ConsumeMessage | null): void => {
      if (message === null) this.#cancelled()
      // This process cannot acknowledge on a replaced channel; the broker redelivers the message.
      else if (!this.#isRetired) take(message, this)
    }
    // The broker may confirm the consumer later than that.
    const consume = async (): Promise<void> => {
      await this.#channel.consume(queue, receive, { consumerTag: tag })
      this.#isConsuming = this.#tag === tag
    }
    try {
      await answerWithin(answerMs, consume(), `RabbitMQ did not confirm the consumer of ${queue}`)
    } catch (error) {
      // The watch replaces a channel whose consumer is not confirmed.
      if (!(error instanceof NotAnswered)) this.session.fail(toError(error))
    }
  }

  /** The broker cancels a consumer when its queue is deleted. */
  #cancelled(): void {
    this.#isConsuming = false
    const { queue, redeclareAfterMs } = this.#options
    // oxlint-disable-next-line no-restricted-globals -- waits for no answer
    setTimeout(() => {
      if (!this.#isRetired) this.session.fail(new Error(`RabbitMQ cancelled the consumer of ${queue}`))
    }, redeclareAfterMs).unref()
  }

  /** Resolves when the broker sends no more messages, or when the channel is given up. */
  async unsubscribe(): Promise<void> {
    const tag = this.#tag
    this.#tag = undefined
    this.#isConsuming = false
    if (tag === undefined || this.#isRetired) return
    const { queue, answerMs, unanswered } = this.#options
    try {
      await answerWithin(answerMs, this.#channel.cancel(tag), `RabbitMQ did not cancel the consumer of ${queue}`)
    } catch (error) {
      if (!(error instanceof NotAnswered)) this.session.fail(toError(error))
      // A channel that is retired meanwhile has a successor, perhaps on another connection.
      else if (!this.#isRetired) unanswered()
    }
  }

  /** Must be called for each message before it is acknowledged or returned. */
  taken(message: ConsumeMessage): void {
    this.#inFlight += 1
    this.#taken += 1
    this.#acks.taken(message)
  }

  done(message: ConsumeMessage): void {
    this.#inFlight -= 1
    this.#acks.done(message)
  }

  /** Returns the message to the queue. From RabbitMQ 4.3 on only a failure counts towards the delivery limit. */
  return(message: ConsumeMessage, isFailure: boolean): void {
    this.#inFlight -= 1
    this.#acks.returned(message, () =>
      isFailure ? this.#channel.reject(message, true) : this.#channel.nack(message, false, true),
    )
  }

  /** @throws Error if the broker does not answer on this channel */
  async inspect(): Promise<Sighting> {
    const { queue, answerMs, concurrency } = this.#options
    const asking = this.#channel.checkQueue(queue)
    const unanswered = `RabbitMQ did not answer the check of ${queue}`
    const { consumerCount, messageCount } = await answerWithin(answerMs, asking, unanswered)
    return { consumers: consumerCount, ready: messageCount, taken: this.#taken, hasRoom: this.#inFlight < concurrency }
  }

  /** Closes the channel before its connection, so that the broker reads the last acknowledgements. */
  async close(): Promise<void> {
    this.retire()
    await closeInTime(this.#channel).catch(() => {})
  }

  /** Gives the channel up, but not its connection. The broker redelivers the unacknowledged messages once it closes it. */
  async abandon(): Promise<void> {
    this.retire()
    const { queue, answerMs } = this.#options
    await answerWithin(
      ANSWERS_TO_ABANDON * answerMs,
      this.#channel.close(),
      `RabbitMQ did not close a channel that consumed ${queue}`,
    ).catch((error: unknown) => {
      // Otherwise the broker would withhold the messages that it sent on this channel. If a queue does not answer a consume,
      // RabbitMQ 4 closes the connection itself after 90 s, and serves none of its consumers in the last 20 s.
      if (error instanceof NotAnswered) this.session.fail(error)
    })
  }
}
