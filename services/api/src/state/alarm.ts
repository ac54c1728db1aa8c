/** Something to sleep by: until it rings, or at most so long. A ring that comes while nobody sleeps counts for the next sleep. */
export class Alarm {
  readonly #timers = new Set<NodeJS.Timeout>()
  #rung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#rung = true
    this.#wake?.()
  }

  ringIn(ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.ring()
    }, ms)
    this.#timers.add(timer)
  }

  async sleep(maxMs: number): Promise<void> {
    if (!this.#rung) {
      const timer = setTimeout(() => this.#wake?.(), maxMs)
      await new Promise<void>((resolve) => (this.#wake = resolve))
      clearTimeout(timer)
      this.#wake = undefined
    }
    this.#rung = false
  }

  /** Takes back what was to ring, and rings at once. */
  silence(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    this.ring()
  }
}
