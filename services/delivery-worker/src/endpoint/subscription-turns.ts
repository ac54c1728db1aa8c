import type { Delivery } from '@switchhook/contracts'
import { stopping } from './start-limit.ts'

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

/** The turns that quick answers have earned. Undefined: none beyond `least`. */
export type EarnedTurns = { readonly turns: number; readonly quickAtMs: number } | undefined

/** The result of a POST, as far as it changes the number of turns. */
export interface PostResult {
  readonly durationMs: number
  /** The POST counts against the endpoint. A rejection does not. */
  readonly isFailure: boolean
}

export const turnsAt = (earned: EarnedTurns, nowMs: number, { least }: Pick<TurnLimits, 'least'>): number =>
  earned === undefined || nowMs - earned.quickAtMs >= QUICK_MS ? least : Math.max(least, earned.turns)

/**
 * One slow answer or failure takes back all further turns. A quick answer adds one, if all turns were taken; otherwise it
 * only confirms them.
 */
export function earnedAfter(
  earned: EarnedTurns,
  { durationMs, isFailure }: PostResult,
  { taken, nowMs, limits }: { readonly taken: number; readonly nowMs: number; readonly limits: TurnLimits },
): EarnedTurns {
  if (isFailure || durationMs >= QUICK_MS) return undefined
  const turns = turnsAt(earned, nowMs, limits)
  return { turns: taken < turns ? turns : Math.min(Math.max(limits.least, limits.most), turns + 1), quickAtMs: nowMs }
}

/**
 * The number of turns that a subscription may take now. Subscriptions that have taken `least` or more share the further
 * turns equally, so one cannot keep them from the others, and together they never exceed `beyondLeast`.
 * @param beyond of the subscriptions that have taken `least` or more: how many they are, and their further turns
 */
export function turnsWithin(
  turns: number,
  taken: number,
  beyond: () => { readonly full: number; readonly takenBeyond: number },
  { least, beyondLeast }: TurnLimits,
): number {
  if (taken < least) return least
  const { full, takenBeyond } = beyond()
  if (takenBeyond >= beyondLeast) return Math.min(turns, taken)
  return Math.min(turns, least + Math.floor(beyondLeast / Math.max(1, full)))
}

interface SubscriptionTurnsDeps {
  readonly limits: TurnLimits
  readonly nowMs: () => number
  /** Of all subscriptions (`turnsWithin`). */
  readonly beyondLeast: Parameters<typeof turnsWithin>[2]
}

/** The share of the turns that only first attempts may take, so that retries never starve them. */
const RESERVED_SHARE = 0.2

const isRetry = ({ attempt }: Delivery): boolean => attempt > 0

/** The turns of one subscription, and the deliveries that wait for one. */
export class SubscriptionTurns {
  /** The deliveries that have entered, with a turn or without. */
  deliveries = 0
  readonly #deps: SubscriptionTurnsDeps
  readonly #taken = new Set<Delivery>()
  readonly #waiting: (PromiseWithResolvers<boolean> & { readonly delivery: Delivery })[] = []
  #earned: EarnedTurns
  #isCrowded = false

  constructor(deps: SubscriptionTurnsDeps) {
    this.#deps = deps
  }

  taken(): number {
    return this.#taken.size
  }

  /** A delivery has waited in vain since a turn was last free. */
  isCrowded(): boolean {
    return this.#isCrowded
  }

  /** False: no turn is free. */
  take(delivery: Delivery): boolean {
    if (!this.#isFree(isRetry(delivery))) return false
    if (this.#waiting.length === 0) this.#isCrowded = false
    this.#taken.add(delivery)
    return true
  }

  /** Resolves to whether the delivery has a turn; false after `patienceMs`. Rejects when the worker stops. */
  wait(delivery: Delivery, patienceMs = Infinity): Promise<boolean> {
    const waiter = { delivery, ...Promise.withResolvers<boolean>() }
    this.#waiting.push(waiter)
    if (patienceMs === Infinity) return waiter.promise
    // oxlint-disable-next-line no-restricted-globals -- patience: moving to a lane counts as no failure
    const patience = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
      this.#isCrowded = true
      waiter.resolve(false)
    }, patienceMs)
    return waiter.promise.finally(() => clearTimeout(patience))
  }

  /** Ends the turn of the delivery, if it has one, and hands out what is free. */
  end(delivery: Delivery): void {
    if (!this.#taken.delete(delivery)) return
    // More than one may go: the answer of this delivery may have added a turn.
    while (this.#waiting.length > 0 && this.#isFree(false)) {
      const mayRetry = this.#isFree(true)
      const at = this.#waiting.findIndex((waiter) => mayRetry || !isRetry(waiter.delivery))
      const [next] = at < 0 ? [] : this.#waiting.splice(at, 1)
      if (next === undefined) return
      // Taken here, before the waiting delivery runs, so that no other can take the turn in between.
      this.#taken.add(next.delivery)
      next.resolve(true)
    }
  }

  /** Adapts the number of turns to the result of a POST. */
  earn(result: PostResult): void {
    const { limits, nowMs } = this.#deps
    this.#earned = earnedAfter(this.#earned, result, { taken: this.#taken.size, nowMs: nowMs(), limits })
  }

  stop(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(stopping())
  }

  #isFree(forRetry: boolean): boolean {
    const { limits, nowMs, beyondLeast } = this.#deps
    const turns = turnsWithin(turnsAt(this.#earned, nowMs(), limits), this.#taken.size, beyondLeast, limits)
    if (this.#taken.size >= turns) return false
    const forRetries = Math.max(1, Math.floor(turns * (1 - RESERVED_SHARE)))
    return !forRetry || [...this.#taken].filter(isRetry).length < forRetries
  }
}
