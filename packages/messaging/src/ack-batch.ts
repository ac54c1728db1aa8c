import { type Channel, IllegalOperationError, type Message } from 'amqplib'

/** Long enough for some to come together on a busy queue; on a quiet one nobody waits for an ack. */
const GATHER_MS = 5

/**
 * Acks of one channel, sent a few at a time: each on its own costs a system call here and one at the broker, which then hands
 * out the next messages one by one as well. What is lost with the channel is handed out again, as if it had not been done.
 */
export class AckBatch {
  readonly #channel: Channel
  #messages: Message[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(channel: Channel) {
    this.#channel = channel
  }

  add(message: Message): void {
    this.#messages.push(message)
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS)
  }

  /** Before the channel is closed. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const messages = this.#messages
    this.#messages = []
    answer(() => {
      for (const message of messages) this.#channel.ack(message)
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
