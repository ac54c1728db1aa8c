import { LRUCache } from 'lru-cache'

/** Parts that are remembered, of all messages of one instance together: some 20 MB. */
const MAX_REMEMBERED = 200_000

type PartId = string | number

export type FinishedParts<Part> = ReturnType<typeof createFinishedParts<Part>>

/**
 * The finished parts of messages that failed, until the message comes back to this process, from its consumer or from the
 * broker. Another process, or this one after it forgot, repeats them, which is harmless because all ids are derived.
 */
export function createFinishedParts<Part>(idOf: (part: Part, at: number) => PartId, most = MAX_REMEMBERED) {
  /** By the id of the message. Beyond the limit the oldest are forgotten. */
  const finished = new LRUCache<string, ReadonlySet<PartId>>({ maxSize: most, sizeCalculation: ({ size }) => size })
  const forget = (message: string): void => void finished.delete(message)

  return {
    /** The parts that are not known to be finished. */
    left(message: string, parts: readonly Part[]): readonly Part[] {
      const known = finished.peek(message)
      return known === undefined ? parts : parts.filter((part, at) => !known.has(idOf(part, at)))
    },
    /** @param left the parts that are not finished */
    remember(message: string, parts: readonly Part[], left: readonly Part[]): void {
      const isLeft = new Set(left)
      const done = new Set(parts.flatMap((part, at) => (isLeft.has(part) ? [] : [idOf(part, at)])))
      // The cache takes no entry without a size.
      if (done.size > 0) finished.set(message, done)
      else forget(message)
    },
    forget,
  }
}
