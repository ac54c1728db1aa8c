import { getOrCreate } from '@switchhook/runtime'

/** Deliveries by which a key may be ahead of the others when it is let in next. */
const QUANTUM = 20

/** How a wait ends: the key is let in, or its wait is ended. */
type Wait = 'acquired' | 'ended'

/**
 * A semaphore that lets waiting keys in by deficit round robin: a key whose work made many deliveries waits while the other
 * keys catch up. Keys that wait at different times do not owe each other anything.
 */
export class FairSemaphore<Key> {
  readonly #limit: number
  readonly #waiting = new Map<Key, ((wait: Wait) => void)[]>()
  readonly #debts = new Map<Key, number>()
  #inUse = 0
  #isOpen: boolean
  #isStopping = false

  constructor(limit: number, { isOpen = true } = {}) {
    this.#limit = limit
    this.#isOpen = isOpen
  }

  isWaiting(key: Key): boolean {
    return this.#waiting.has(key)
  }

  hasWork(): boolean {
    return this.#inUse > 0 || this.#waiting.size > 0
  }

  /** `acquired`: call `release` afterwards. `ended`: by `endWaits`, `endWaitsOf` or `stop`. */
  acquire(key: Key): Promise<Wait> | Wait {
    if (this.#isStopping) return 'ended'
    if (this.#waiting.size === 0 && this.#hasRoom()) {
      this.#inUse += 1
      return 'acquired'
    }
    return new Promise((resolve) => void getOrCreate(this.#waiting, key, () => []).push(resolve))
  }

  /** Adds deliveries that work under this key has made to its debt. */
  owe(key: Key, deliveries: number): void {
    if (this.#waiting.size > 0) this.#debts.set(key, (this.#debts.get(key) ?? 0) + deliveries)
  }

  release(): void {
    this.#inUse -= 1
    this.#letIn()
  }

  /** While closed, it lets nothing in. */
  setOpen(isOpen: boolean): void {
    this.#isOpen = isOpen
    this.#letIn()
  }

  /** Ends every wait. */
  endWaits(): void {
    for (const key of this.#waiting.keys()) this.endWaitsOf(key)
  }

  /** Ends the waits of one key. */
  endWaitsOf(key: Key): void {
    const line = this.#waiting.get(key)
    if (line === undefined) return
    this.#waiting.delete(key)
    for (const resolve of line) resolve('ended')
    if (this.#waiting.size === 0) this.#debts.clear()
  }

  /** Ends every wait, and all later ones. */
  stop(): void {
    this.#isStopping = true
    this.endWaits()
  }

  #hasRoom(): boolean {
    return this.#isOpen && this.#inUse < this.#limit
  }

  #letIn(): void {
    while (this.#waiting.size > 0 && this.#hasRoom()) this.#next()
    if (this.#waiting.size === 0) this.#debts.clear()
  }

  /** Goes round the keys: each pays off a quantum of its debt, and the first without a debt is let in. */
  #next(): void {
    for (const [key, line] of this.#waiting) {
      const debt = (this.#debts.get(key) ?? 0) - QUANTUM
      this.#debts.set(key, Math.max(0, debt))
      // Moves the key to the end of the map, and so of this loop.
      this.#waiting.delete(key)
      if (debt > 0) {
        this.#waiting.set(key, line)
        continue
      }
      const go = line.shift()
      if (line.length > 0) this.#waiting.set(key, line)
      this.#inUse += 1
      go?.('acquired')
      return
    }
  }
}
