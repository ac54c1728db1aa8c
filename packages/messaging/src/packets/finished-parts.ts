import { LRUCache } from 'lru-cache'

/** Parts that are remembered, of all messages of one instance together: some 20 MB. */
const MAX_REMEMBERED = 200_000

type PartId = string | number

/**
 * The finished parts of messages that failed, until the message comes back to this process, from its consumer or from the
 * broker. Another process, or this one after it forgot, repeats them, which is harmless because all ids are derived.
 */
export class FinishedParts<Part> {
  readonly #idOf: (part: Part, at: number) => PartId
  /** By the id of the message. Beyond the limit the oldest are forgotten. */
  readonly #finished: LRUCache<string, ReadonlySet<PartId>>

  constructor(idOf: (part: Part, at: number) => PartId, most = MAX_REMEMBERED) {
    this.#idOf = idOf
    this.#finished = new LRUCache({ maxSize: most, sizeCalculation: ({ size }) => size })
  }

  /** The parts that are not known to be finished. */
  left(message: string, parts: readonly Part[]): readonly Part[] {
    const finished = this.#finished.peek(message)
    return finished === undefined ? parts : parts.filter((part, at) => !finished.has(this.#idOf(part, at)))
  }

  /** @param left the parts that are not finished */
  remember(message: string, parts: readonly Part[], left: readonly Part[]): void {
    const isLeft = new Set(left)
    const finished = new Set(parts.flatMap((part, at) => (isLeft.has(part) ? [] : [this.#idOf(part, at)])))
    // The cache takes no entry without a size.
    if (finished.size > 0) this.#finished.set(message, finished)
    else this.forget(message)
  }

  forget(message: string): void {
    this.#finished.delete(message)
  }
}
