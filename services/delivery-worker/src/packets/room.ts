import { startDeadline } from '@switchhook/runtime'

/** Limits the members of packets that are in progress. */
export class Room {
  #free: number
  #isStopping = false
  /** Each ends a wait: with room, or without. */
  readonly #waiting = new Set<(hasRoom: boolean) => void>()

  constructor(members: number) {
    this.#free = members
  }

  /** Resolves to false if there was no room within `patienceMs`, or once the worker stops. Otherwise call `giveBack` afterwards. */
  take(patienceMs: number): Promise<boolean> | boolean {
    if (this.#isStopping) return false
    if (this.#free > 0) {
      this.#free -= 1
      return true
    }
    return new Promise((resolve) => {
      const end = (hasRoom: boolean): void => {
        patience.stop()
        this.#waiting.delete(end)
        resolve(hasRoom)
      }
      const patience = startDeadline(patienceMs, () => end(false))
      this.#waiting.add(end)
    })
  }

  giveBack(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#free += 1
    else next(true)
  }

  /** Ends every wait, and all later ones, without room. */
  stop(): void {
    this.#isStopping = true
    for (const end of this.#waiting) end(false)
  }
}
