/** Publishes that await their confirms within the same time limit. One timer serves them all. */
export class InFlight<Publish extends { readonly sentAt: number }> {
  readonly #limitMs: number
  readonly #timedOut: (publish: Publish) => void
  /** In the order of sending, so the first one times out first. */
  readonly #publishes = new Set<Publish>()
  #timer: NodeJS.Timeout | undefined

  /** @param timedOut called once for each publish that is still in flight at its time limit; it is no longer in flight then */
  constructor(limitMs: number, timedOut: (publish: Publish) => void) {
    this.#limitMs = limitMs
    this.#timedOut = timedOut
  }

  /** `sentAt` is the present time of `performance.now()`. */
  add(publish: Publish): void {
    this.#publishes.add(publish)
    this.#arm(this.#limitMs)
  }

  /** Whether the publish was in flight until now. */
  delete(publish: Publish): boolean {
    return this.#publishes.delete(publish)
  }

  [Symbol.iterator](): Iterator<Publish> {
    return this.#publishes.values()
  }

  #arm(ms: number): void {
    if (this.#timer !== undefined) return
    // The timer outlives the last confirm, and must not keep a command line from ending.
    this.#timer = setTimeout(() => this.#sweep(), ms).unref()
  }

  #sweep(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const publish of this.#publishes) {
      const leftMs = publish.sentAt + this.#limitMs - now
      if (leftMs > 0) {
        return this.#arm(Math.ceil(leftMs))
      }
      this.#publishes.delete(publish)
      this.#timedOut(publish)
    }
  }
}
