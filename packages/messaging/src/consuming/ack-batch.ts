import { type Channel, IllegalOperationError, type Message } from 'amqplib'

/** Long enough to batch the acknowledgements of a busy queue. No delivery waits for its acknowledgement. */
const GATHER_MS = 5

/**
 * Batches the acknowledgements of one channel into as few as possible: one `multiple` ack covers every message up to the
 * oldest that is still in flight. A quorum queue writes each ack into its log and accepts 32 at a time from a channel.
 * Further ones wait in the channel and are lost when it closes (rabbit_fifo_client). The broker redelivers a message whose
 * ack is lost. Every message of the channel must be registered with `taken`, or a `multiple` ack would cover it too early.
 */
export class AckBatch {
  readonly #channel: Channel
  /** Delivery tags of the messages in flight. They arrive in ascending order, so the first one is the lowest. */
  readonly #inFlight = new Set<number>()
  #messages: Message[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(channel: Channel) {
    this.#channel = channel
  }

  /** Must be called for each message before `done` or `returned`. */
  taken(message: Message): void {
    this.#inFlight.add(message.fields.deliveryTag)
  }

  done(message: Message): void {
    this.#inFlight.delete(message.fields.deliveryTag)
    this.#messages.push(message)
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS)
  }

  /** The caller nacks or rejects the message afterwards. */
  returned(message: Message): void {
    this.#inFlight.delete(message.fields.deliveryTag)
  }

  /** Sends the acks now; call it before closing the channel. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const messages = this.#messages
    this.#messages = []
    const [oldest = Infinity] = this.#inFlight
    let last: Message | undefined
    const single: Message[] = []
    for (const message of messages) {
      const { deliveryTag } = message.fields
      if (deliveryTag > oldest) single.push(message)
      else if (last === undefined || deliveryTag > last.fields.deliveryTag) last = message
    }
    answer(() => {
      if (last !== undefined) this.#channel.ack(last, true)
      for (const message of single) this.#channel.ack(message)
    })
  }
}

/** Ignores a lost channel: the broker redelivers its messages anyway. */
export function answer(send: () => void): void {
  try {
    send()
  } catch (error) {
    if (!(error instanceof IllegalOperationError)) throw error
  }
}
