import { crc32 } from 'node:zlib'
import type { Delivery, SubscriptionId } from '@switchhook/contracts'
import { LANES } from '@switchhook/messaging'
import { stopping } from './start-limit.ts'
import { createTenantShare, type TenantShareDeps } from './tenant-share.ts'
import { type EarnedTurns, earnedAfter, type PostResult, type TurnLimits, turnsAt, turnsWithin } from './turn-limit.ts'

/** Where a delivery was consumed from. */
export type Source = 'due' | 'lane'

export interface IsolationDeps extends TenantShareDeps {
  /** Turns in this worker: the concurrent deliveries of a subscription. */
  readonly turns: TurnLimits
  /** How long a delivery from a due queue waits for a turn before it moves to a lane. Quick endpoints then need no lane. */
  readonly patienceMs?: number
  /** Resolves once the broker has confirmed the delivery in the lane. */
  readonly publishToLane: (delivery: Delivery, lane: number) => Promise<void>
  /** Called after the broker's confirm. */
  readonly movedToLane?: () => void
}

/**
 * What a delivery needs after its look. `nothing`: it is not POSTed. `lane`: a turn, in its lane, because its endpoint has
 * let a POST hang lately. `probe`: a POST that all other deliveries of the endpoint wait for, so it needs no turn.
 */
export type Need = 'nothing' | 'turn' | 'lane' | 'probe'

/**
 * Where a delivery goes after its look. `here`: it is worked off, after a wait if it needs a turn and has none. `broker`: it is
 * returned.
 * @param its `hasTurn`: it has a turn, or one is free. `isCrowded`: others have waited in vain
 */
export function placeOf(
  source: Source,
  need: Need,
  its: Readonly<Record<'isBeyondShare' | 'hasTurn' | 'isCrowded' | 'isStopping', boolean>>,
): 'here' | 'lane' | 'broker' {
  if (need === 'nothing') return 'here'
  if (source === 'due' && (need === 'lane' || its.isBeyondShare)) return 'lane'
  if (need === 'probe' || its.hasTurn) return 'here'
  if (source === 'due' && (its.isCrowded || its.isStopping)) return 'lane'
  return its.isStopping ? 'broker' : 'here'
}

/** What runs in a turn, if it needs one. `Found` is the result of its look. */
export interface TurnWork<Found> {
  /** Runs before the wait for a turn, so that a delivery that needs none is not delayed. */
  readonly look: () => Promise<Found>
  readonly needs: (found: Found) => Need
  /** Gives up the probe that the look may have claimed, because the delivery moves to a lane. */
  readonly giveUpProbe?: (found: Found) => Promise<void>
  /** Whether `found` is still valid after the wait for a turn. If not, `look` runs again. */
  readonly isFresh: (found: Found) => boolean
  readonly work: (found: Found) => Promise<void>
}

export type Isolation = ReturnType<typeof createIsolation>

/** The turn of a delivery, until it ends. */
interface Turn {
  readonly isRetry: boolean
}

/** The turns of one subscription, and the deliveries that wait for one. */
interface SubscriptionTurns {
  readonly taken: Set<Turn>
  earned: EarnedTurns
  readonly waiting: (Turn & PromiseWithResolvers<Turn | undefined>)[]
  /** A delivery has timed out waiting since a turn was last free. While set, the next ones move to the lane without waiting. */
  isCrowded: boolean
}

/** A few answers of a quick endpoint, on a busy worker. A slow endpoint costs its neighbours this wait once, not every time. */
const TURN_PATIENCE_MS = 250

/** The share of the turns that only first attempts may take, so that a backlog of retries never starves them. */
const RESERVED_SHARE = 0.2

/** The lane of a subscription. Always the same, so that its deliveries form one queue. */
export const laneOf = (subscription: SubscriptionId): number => crc32(subscription) % LANES

/**
 * Bounds the concurrent deliveries of each subscription, so that one slow endpoint cannot occupy the worker, and the hanging
 * POSTs of each tenant (tenant-share.ts), so that many of them cannot either.
 *
 * A delivery that finds no turn free waits a moment and then moves, once, to a lane. The deliveries of an endpoint that has let a
 * POST hang lately move there at once, even if it answers other POSTs in between, so that its circuit breaker stays closed. A
 * deferred delivery costs one publish and one more delivery by the broker, however long it waits, and delays only its own lane.
 */
export function createIsolation(deps: IsolationDeps) {
  const { turns: limits, patienceMs = TURN_PATIENCE_MS, publishToLane, movedToLane, nowMs } = deps
  const bySubscription = new Map<SubscriptionId, SubscriptionTurns>()
  const share = createTenantShare(deps)
  let isStopping = false

  function beyondLeast() {
    const sizes = [...bySubscription.values()].map(({ taken }) => taken.size).filter((size) => size >= limits.least)
    return { full: sizes.length, takenBeyond: sizes.reduce((sum, size) => sum + size - limits.least, 0) }
  }

  function hasTurn({ taken, earned }: SubscriptionTurns, forRetry: boolean): boolean {
    const turns = turnsWithin(turnsAt(earned, nowMs(), limits), taken.size, beyondLeast, limits)
    if (taken.size >= turns) return false
    const forRetries = Math.max(1, Math.floor(turns * (1 - RESERVED_SHARE)))
    return !forRetry || [...taken].filter(({ isRetry }) => isRetry).length < forRetries
  }

  const turnsOf = ({ subscriptionId }: Delivery): SubscriptionTurns =>
    bySubscription.get(subscriptionId) ?? { taken: new Set(), earned: undefined, waiting: [], isCrowded: false }

  function take(delivery: Delivery): Turn | undefined {
    const turns = turnsOf(delivery)
    if (!hasTurn(turns, isRetry(delivery))) return undefined
    if (turns.waiting.length === 0) turns.isCrowded = false
    bySubscription.set(delivery.subscriptionId, turns)
    const turn = { isRetry: isRetry(delivery) }
    turns.taken.add(turn)
    return turn
  }

  /** Undefined: a delivery from a due queue has waited in vain, and belongs in its lane. */
  function wait(delivery: Delivery, source: Source): Promise<Turn | undefined> {
    const turns = turnsOf(delivery)
    const waiter = { isRetry: isRetry(delivery), ...Promise.withResolvers<Turn | undefined>() }
    turns.waiting.push(waiter)
    if (source === 'lane') return waiter.promise
    // oxlint-disable-next-line no-restricted-globals -- patience: moving to a lane counts as no failure
    const patience = setTimeout(() => {
      turns.waiting.splice(turns.waiting.indexOf(waiter), 1)
      turns.isCrowded = true
      waiter.resolve(undefined)
    }, patienceMs)
    return waiter.promise.finally(() => clearTimeout(patience))
  }

  function endTurn(delivery: Delivery, turn: Turn): void {
    const turns = turnsOf(delivery)
    turns.taken.delete(turn)
    // More than one may go: the answer of this delivery may have added a turn.
    while (turns.waiting.length > 0 && hasTurn(turns, false)) {
      const mayRetry = hasTurn(turns, true)
      const at = turns.waiting.findIndex((waiter) => mayRetry || !waiter.isRetry)
      const [next] = at < 0 ? [] : turns.waiting.splice(at, 1)
      if (next === undefined) break
      // Taken here, before the waiting delivery runs, so that no other can take the turn in between.
      turns.taken.add(next)
      next.resolve(next)
    }
    if (turns.taken.size === 0) bySubscription.delete(delivery.subscriptionId)
  }

  async function moveToLane(delivery: Delivery): Promise<void> {
    await publishToLane(delivery, laneOf(delivery.subscriptionId))
    movedToLane?.()
  }

  return {
    /**
     * Runs the work of a delivery in one of its subscription's turns, or without one if it needs none. If it moves to its lane
     * (`placeOf`, or a wait of `patienceMs` in vain), the broker has confirmed it there, with attempt and slot unchanged.
     * Rejects while it waits if the worker stops.
     */
    inTurn: async <Found>(
      delivery: Delivery,
      source: Source,
      { look, needs, giveUpProbe, isFresh, work }: TurnWork<Found>,
    ): Promise<void> => {
      const isBeyondShare = source === 'due' && share.isExceededBy(delivery)
      let turn = isBeyondShare ? undefined : take(delivery)
      try {
        let found = await look()
        const need = needs(found)
        const turns = turnsOf(delivery)
        const place = placeOf(source, need, {
          isBeyondShare,
          // One may have become free during the look.
          hasTurn: turn !== undefined || hasTurn(turns, isRetry(delivery)),
          isCrowded: turns.isCrowded,
          isStopping,
        })
        if (place === 'broker') throw stopping()
        if (place === 'lane') {
          await giveUpProbe?.(found)
          return await moveToLane(delivery)
        }
        if (turn === undefined && (need === 'turn' || need === 'lane')) {
          turn = take(delivery) ?? (await wait(delivery, source))
          if (turn === undefined) return await moveToLane(delivery)
          if (!isFresh(found)) found = await look()
        }
        if (needs(found) !== 'nothing') share.began(delivery)
        await work(found)
      } finally {
        share.ended(delivery)
        if (turn !== undefined) endTurn(delivery, turn)
      }
    },
    /** Adapts the turns and the places of an endpoint to the result of a POST. Call it within the work of the delivery. */
    notePost: (delivery: Delivery, result: PostResult): void => {
      share.ended(delivery)
      share.noteDuration(delivery, result.durationMs)
      const turns = turnsOf(delivery)
      turns.earned = earnedAfter(turns.earned, result, { taken: turns.taken.size, nowMs: nowMs(), limits })
    },
    /** Returns waiting deliveries to the broker. */
    stop: (): void => {
      isStopping = true
      for (const { waiting } of bySubscription.values()) {
        for (const { reject } of waiting.splice(0)) reject(stopping())
      }
    },
  }
}

const isRetry = ({ attempt }: Delivery): boolean => attempt > 0
