/** Parts that are remembered, of all messages of one instance together: some 20 MB. */
const MAX_REMEMBERED = 200_000

type PartId = string | number

/**
 * The finished parts of messages that failed, until the message comes back to this process, from its consumer or from the
 * broker. Another process, or this one after it forgot, repeats them, which is harmless because all ids are derived.
 */
export class FinishedParts<Part> {
  readonly #idOf: (part: Part, at: number) => PartId
  readonly #most: number
  /** By the id of the message. */
  readonly #finished = new Map<string, ReadonlySet<PartId>>()
  #size = 0

  constructor(idOf: (part: Part, at: number) => PartId, most = MAX_REMEMBERED) {
    this.#idOf = idOf
    this.#most = most
  }

  /** The parts that are not known to be finished. */
  left(message: string, parts: readonly Part[]): readonly Part[] {
    const finished = this.#finished.size === 0 ? undefined : this.#finished.get(message)
    return finished === undefined ? parts : parts.filter((part, at) => !finished.has(this.#idOf(part, at)))
  }

  /** @param left the parts that are not finished */
  remember(message: string, parts: readonly Part[], left: readonly Part[]): void {
    this.forget(message)
    const isLeft = new Set(left)
    const finished = new Set(parts.flatMap((part, at) => (isLeft.has(part) ? [] : [this.#idOf(part, at)])))
    // An empty set would take room that the limit does not count.
    if (finished.size === 0) return
    this.#finished.set(message, finished)
    this.#size += finished.size
    for (const oldest of this.#finished.keys()) {
      if (this.#size <= this.#most) return
      this.forget(oldest)
    }
  }

  forget(message: string): void {
    this.#size -= this.#finished.get(message)?.size ?? 0
    this.#finished.delete(message)
  }
}
