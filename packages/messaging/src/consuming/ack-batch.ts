import { type Channel, IllegalOperationError, type Message } from 'amqplib'

/** Long enough for some to come together on a busy queue; on a quiet one nobody waits for an ack. */
const GATHER_MS = 5

/**
 * Acks of one channel, gathered, and as few as can say it: all up to the oldest message that is still in hand are acked by
 * one. A quorum queue writes each ack into its log, and takes 32 at a time from a channel: more than that wait in the
 * channel, and are lost when it is closed (rabbit_fifo_client). Whatever the channel is handed comes by here, or would be
 * acked unseen. What is lost with the channel is handed out again, as if it had not been done.
 */
export class AckBatch {
  readonly #channel: Channel
  /** Delivery tags of what is in hand; they come in ascending order, so the first one is the lowest. */
  readonly #inHand = new Set<number>()
  #messages: Message[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(channel: Channel) {
    this.#channel = channel
  }

  /** Of each message, before anything is said of it. */
  taken(message: Message): void {
    this.#inHand.add(message.fields.deliveryTag)
  }

  done(message: Message): void {
    this.#inHand.delete(message.fields.deliveryTag)
    this.#messages.push(message)
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS)
  }

  /** Nacked or rejected, which the caller does after this. */
  givenBack(message: Message): void {
    this.#inHand.delete(message.fields.deliveryTag)
  }

  /** Before the channel is closed. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const messages = this.#messages
    this.#messages = []
    const [oldest = Infinity] = this.#inHand
    let last: Message | undefined
    const alone: Message[] = []
    for (const message of messages) {
      const { deliveryTag } = message.fields
      if (deliveryTag > oldest) alone.push(message)
      else if (last === undefined || deliveryTag > last.fields.deliveryTag) last = message
    }
    answer(() => {
      if (last !== undefined) this.#channel.ack(last, true)
      for (const message of alone) this.#channel.ack(message)
    })
  }
}

/** Answers on a lost channel say nothing: the broker has already handed the message out again. */
export function answer(send: () => void): void {
  try {
    send()
  } catch (error) {
    if (!(error instanceof IllegalOperationError)) throw error
  }
}
