/** What happens to the messages that failed: they are retried here, or returned to the queue. */
export type Verdict = 'retry' | 'return'

/** A period in which a consumer takes no messages. The messages that failed wait for its verdict. */
export class Pause {
  /** Resolves once the broker sends no more messages. */
  readonly cancelled: Promise<void>
  readonly verdict: Promise<Verdict>
  #resolve!: (verdict: Verdict) => void
  readonly #timer: NodeJS.Timeout

  /** After `holdMs` without a decision the messages are returned, so that a replica without the problem gets them. */
  constructor(cancelled: Promise<void>, holdMs: number) {
    this.cancelled = cancelled
    this.verdict = new Promise((resolve) => {
      this.#resolve = resolve
    })
    // oxlint-disable-next-line no-restricted-globals -- a hold: returning the messages is safe
    this.#timer = setTimeout(() => this.decide('return'), holdMs)
  }

  /** Only the first decision counts. */
  decide(verdict: Verdict): void {
    clearTimeout(this.#timer)
    this.#resolve(verdict)
  }
}
