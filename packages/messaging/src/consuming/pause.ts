/** What becomes of a message that failed for lack of infrastructure: it is tried again here, or given back to the queue. */
export type Verdict = 'again' | 'give back'

/** A time in which a consumer takes no messages, and those that failed wait for a verdict. */
export class Pause {
  /** Resolves once the broker sends no more. */
  readonly cancelled: Promise<void>
  readonly verdict: Promise<Verdict>
  #resolve!: (verdict: Verdict) => void
  readonly #timer: NodeJS.Timeout

  /** After `holdMs` without a decision the messages are given back, so that a replica without the trouble gets them. */
  constructor(cancelled: Promise<void>, holdMs: number) {
    this.cancelled = cancelled
    this.verdict = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#timer = setTimeout(() => this.decide('give back'), holdMs)
  }

  /** The first decision stands. */
  decide(verdict: Verdict): void {
    clearTimeout(this.#timer)
    this.#resolve(verdict)
  }
}
