import type { Channel, ConsumeMessage } from 'amqplib'
import type { Session } from '../link/link.ts'
import { toError } from '../link/to-error.ts'
import { within } from '../link/within.ts'
import { AckBatch, answer } from './ack-batch.ts'

export interface ConsumerChannelOptions {
  readonly queue: string
  /** Limit of unacknowledged messages. */
  readonly concurrency: number
  /** How long the broker may take to answer on this channel before its connection is given up. */
  readonly answerMs: number
  readonly take: (message: ConsumeMessage, from: ConsumerChannel) => void
  readonly closed: (channel: ConsumerChannel) => void
}

/** What the broker and this channel report about a queue at one moment. */
export interface Sighting {
  /** Consumers of the queue, those of other processes included. */
  readonly consumers: number
  /** Messages that wait for a consumer. */
  readonly ready: number
  /** Messages received on this channel since it was opened. */
  readonly taken: number
  /** The channel may receive more messages. */
  readonly hasRoom: boolean
}

const CLOSE_TIMEOUT_MS = 3_000

/**
 * One queue's consumer on one channel of one connection. The consumer tag and the acknowledgements belong to the channel
 * and are never carried over to the next one. Whenever the broker refuses or does not answer, the session fails, so that
 * the link makes a new connection and everything on it.
 */
export class ConsumerChannel {
  readonly session: Session
  readonly #channel: Channel
  readonly #options: ConsumerChannelOptions
  readonly #acks: AckBatch
  #tag: string | undefined
  #isConsuming = false
  #isRetired = false
  #inHand = 0
  #taken = 0

  static async open(session: Session, options: ConsumerChannelOptions): Promise<ConsumerChannel> {
    const opening = session.model.createChannel().then(async (channel) => {
      const opened = new ConsumerChannel(session, channel, options)
      await channel.prefetch(options.concurrency)
      return opened
    })
    return await within(options.answerMs, opening, `RabbitMQ opened no channel for ${options.queue}`)
  }

  private constructor(session: Session, channel: Channel, options: ConsumerChannelOptions) {
    this.session = session
    this.#channel = channel
    this.#options = options
    this.#acks = new AckBatch(channel)
    channel.on('error', session.fail)
    channel.on('close', () => {
      if (this.#isRetired) return
      session.fail(new Error(`the channel that consumes ${options.queue} was closed`))
      this.retire()
      options.closed(this)
    })
  }

  /** The broker confirmed the consumer on this channel, and it was not cancelled since. */
  isConsuming(): boolean {
    return this.#isConsuming && !this.#isRetired
  }

  /** This channel is lost or replaced: the broker redelivers its unacknowledged messages elsewhere. */
  isRetired(): boolean {
    return this.#isRetired
  }

  retire(): void {
    this.#isRetired = true
  }

  async subscribe(tag: string): Promise<void> {
    if (this.#tag !== undefined || this.#isRetired) return
    const { queue, answerMs, take } = this.#options
    this.#tag = tag
    const receive = (message: ConsumeMessage | null): void => {
      // The broker cancelled the consumer because the queue was deleted; a new connection declares the queue again.
      if (message === null) this.session.fail(new Error(`RabbitMQ cancelled the consumer of ${queue}`))
      // An answer on a replaced channel could only send the message round in circles.
      else if (!this.#isRetired) take(message, this)
    }
    try {
      const consuming = this.#channel.consume(queue, receive, { consumerTag: tag })
      await within(answerMs, consuming, `RabbitMQ did not confirm the consumer of ${queue}`)
      this.#isConsuming = this.#tag === tag
    } catch (error) {
      this.session.fail(toError(error))
    }
  }

  /** Resolves when the broker sends no more messages, or when the connection is given up. */
  async unsubscribe(): Promise<void> {
    const tag = this.#tag
    this.#tag = undefined
    this.#isConsuming = false
    if (tag === undefined || this.#isRetired) return
    const { queue, answerMs } = this.#options
    try {
      await within(answerMs, this.#channel.cancel(tag), `RabbitMQ did not cancel the consumer of ${queue}`)
    } catch (error) {
      this.session.fail(toError(error))
    }
  }

  /** Must be called for each message before it is answered. */
  taken(message: ConsumeMessage): void {
    this.#inHand += 1
    this.#taken += 1
    this.#acks.taken(message)
  }

  done(message: ConsumeMessage): void {
    this.#inHand -= 1
    this.#acks.done(message)
  }

  /** Returns the message to the queue. From RabbitMQ 4.3 on only a failure counts towards the delivery limit. */
  giveBack(message: ConsumeMessage, isFailure: boolean): void {
    this.#inHand -= 1
    this.#acks.givenBack(message)
    if (this.#isRetired) return
    answer(() => (isFailure ? this.#channel.reject(message, true) : this.#channel.nack(message, false, true)))
  }

  /** Rejects when the broker does not answer on this channel. */
  async look(): Promise<Sighting> {
    const { queue, answerMs, concurrency } = this.#options
    const asking = this.#channel.checkQueue(queue)
    const { consumerCount, messageCount } = await within(answerMs, asking, `RabbitMQ did not answer about ${queue}`)
    return {
      consumers: consumerCount,
      ready: messageCount,
      taken: this.#taken,
      hasRoom: this.#inHand < concurrency,
    }
  }

  /** Closing the channel before its connection makes sure that the broker reads the last acknowledgements. */
  async close(): Promise<void> {
    this.#acks.flush()
    this.retire()
    await within(CLOSE_TIMEOUT_MS, this.#channel.close(), 'no answer').catch(() => {})
  }
}
