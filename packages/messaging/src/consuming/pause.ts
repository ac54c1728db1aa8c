/** What happens to the messages that failed: they are retried here, or returned to the queue. */
export type PauseEnd = 'retry' | 'return'

/** A period in which a consumer takes no messages. The messages that failed wait for its end. */
export class Pause {
  /** Resolves once the broker sends no more messages. */
  readonly cancelled: Promise<void>
  readonly ended: Promise<PauseEnd>
  #resolve!: (end: PauseEnd) => void
  readonly #timer: NodeJS.Timeout

  /** After `holdMs` without an end the messages are returned, so that a replica without the problem gets them. */
  constructor(cancelled: Promise<void>, holdMs: number) {
    this.cancelled = cancelled
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve
    })
    // oxlint-disable-next-line no-restricted-globals -- a hold: returning the messages is safe
    this.#timer = setTimeout(() => this.end('return'), holdMs)
  }

  /** Only the first call counts. */
  end(end: PauseEnd): void {
    clearTimeout(this.#timer)
    this.#resolve(end)
  }
}
