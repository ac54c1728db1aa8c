/** Waits that double from the first to the longest, and start again after a success. */
export class Backoff {
  readonly #firstMs: number
  readonly #longestMs: number
  #nextMs: number

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs
    this.#longestMs = longestMs
    this.#nextMs = firstMs
  }

  nextMs(): number {
    const ms = this.#nextMs
    this.#nextMs = Math.min(ms * 2, this.#longestMs)
    return ms
  }

  reset(): void {
    this.#nextMs = this.#firstMs
  }
}
