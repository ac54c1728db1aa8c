import type { Delivery } from '@switchhook/contracts'
import { Stopping } from './stopping.ts'

export interface TurnLimits {
  readonly least: number
  /** Turns of one subscription while its endpoint answers quickly. */
  readonly most: number
  /** Turns beyond `least`, of all subscriptions together. */
  readonly beyondLeast: number
}

/**
 * Answers within this time are quick. They are also the only evidence that an endpoint is quick, so it counts for as long: an
 * endpoint that stops answering has lost its further turns by the time that a slow answer would have arrived.
 */
export const QUICK_MS = 250

/** The result of a POST, as far as it changes the number of turns. */
export interface PostResult {
  /** As in `Posted`. */
  readonly durationMs: number
  /** The POST counts against the endpoint. A rejection does not. */
  readonly isFailure: boolean
}

interface SubscriptionTurnsDeps {
  readonly limits: TurnLimits
  readonly nowMs: () => number
  /** The subscriptions that have taken `least` turns or more: how many they are, and what they have taken beyond. */
  readonly countFull: () => { readonly full: number; readonly takenBeyond: number }
}

/** The share of the turns that only first attempts may take, so that retries never starve them. */
const RESERVED_SHARE = 0.2

export const isRetry = ({ attempt }: Delivery): boolean => attempt > 0

/** The turns of one subscription, and the deliveries that wait for one. */
export class SubscriptionTurns {
  /** The deliveries that have entered, with a turn or without. */
  deliveries = 0
  /** Those with a turn. */
  readonly taken = new Set<Delivery>()
  /** A delivery has waited in vain since a turn was last free. */
  isCrowded = false
  readonly #deps: SubscriptionTurnsDeps
  readonly #waiting: (PromiseWithResolvers<boolean> & { readonly delivery: Delivery })[] = []
  /** The turns that quick answers have earned. They count for `QUICK_MS` after the last of these. */
  #earned = 0
  #quickAtMs = Number.NEGATIVE_INFINITY

  constructor(deps: SubscriptionTurnsDeps) {
    this.#deps = deps
  }

  isFree(forRetry: boolean): boolean {
    const turns = this.#turnsNow()
    if (this.taken.size >= turns) return false
    const forRetries = Math.max(1, Math.floor(turns * (1 - RESERVED_SHARE)))
    return !forRetry || [...this.taken].filter(isRetry).length < forRetries
  }

  /** Takes a turn that is free. */
  take(delivery: Delivery): void {
    if (this.#waiting.length === 0) this.isCrowded = false
    this.taken.add(delivery)
  }

  /** Resolves to whether the delivery has a turn; false after `patienceMs`. Rejects when the worker stops. */
  wait(delivery: Delivery, patienceMs = Infinity): Promise<boolean> {
    const waiter = { delivery, ...Promise.withResolvers<boolean>() }
    this.#waiting.push(waiter)
    if (patienceMs === Infinity) return waiter.promise
    // oxlint-disable-next-line no-restricted-globals -- patience: moving to a lane counts as no failure
    const patience = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
      this.isCrowded = true
      waiter.resolve(false)
    }, patienceMs)
    return waiter.promise.finally(() => clearTimeout(patience))
  }

  /** Ends the turn of the delivery, if it has one, and hands out what is free. */
  end(delivery: Delivery): void {
    if (!this.taken.delete(delivery)) return
    // More than one may go: the answer of this delivery may have added a turn.
    while (this.#waiting.length > 0 && this.isFree(false)) {
      const mayRetry = this.isFree(true)
      const at = this.#waiting.findIndex((waiter) => mayRetry || !isRetry(waiter.delivery))
      const [next] = at < 0 ? [] : this.#waiting.splice(at, 1)
      if (next === undefined) return
      // Taken here, before the waiting delivery runs, so that no other can take the turn in between.
      this.taken.add(next.delivery)
      next.resolve(true)
    }
  }

  /**
   * A slow answer or a failure takes back all further turns. A quick answer adds one, if all turns were taken;
   * otherwise it only confirms them.
   */
  earn({ durationMs, isFailure }: PostResult): void {
    const { limits, nowMs } = this.#deps
    const turns = this.#turns()
    const isQuick = !isFailure && durationMs < QUICK_MS
    this.#earned = Math.min(Math.max(limits.least, limits.most), this.taken.size < turns ? turns : turns + 1)
    this.#quickAtMs = isQuick ? nowMs() : Number.NEGATIVE_INFINITY
  }

  stop(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(new Stopping())
  }

  #turns(): number {
    const { limits, nowMs } = this.#deps
    return nowMs() - this.#quickAtMs < QUICK_MS ? this.#earned : limits.least
  }

  /**
   * Subscriptions that have taken `least` turns or more share the further ones equally, so one cannot keep them from the
   * others, and together they never exceed `beyondLeast`.
   */
  #turnsNow(): number {
    const { least, beyondLeast } = this.#deps.limits
    if (this.taken.size < least) return least
    const { full, takenBeyond } = this.#deps.countFull()
    return takenBeyond >= beyondLeast ? least : Math.min(this.#turns(), least + Math.floor(beyondLeast / full))
  }
}
