import type { Delivery, SubscriptionId } from '@switchhook/contracts'
import { getOrCreate } from '@switchhook/runtime'
import { createHangingLimit, type HangingLimitDeps } from './hanging-limit.ts'
import { Stopping } from './stopping.ts'
import { type PostResult, SubscriptionTurns, type TurnLimits } from './subscription-turns.ts'

/** `lane`: the delivery was consumed from a lane. `due`: from another queue, alone or in a packet. */
export type Source = 'due' | 'lane'

export interface IsolationDeps extends HangingLimitDeps {
  /** Turns in this worker: the concurrent deliveries of a subscription. */
  readonly turns: TurnLimits
  /** How long a delivery from a due queue waits for a turn before it moves to a lane. Quick endpoints then need no lane. */
  readonly patienceMs?: number
  /** Resolves once the broker has confirmed the delivery in the lane of its subscription. */
  readonly publishToLane: (delivery: Delivery) => Promise<void>
  /** Called after the broker's confirm. */
  readonly movedToLane?: () => void
}

/**
 * What a delivery needs after its look. `nothing`: it is not POSTed. `probe`: a POST that all other deliveries of the endpoint
 * wait for, so it needs no turn. `lane-only`: a turn, in its lane, because its endpoint has let a POST hang lately.
 */
export type Need = 'nothing' | 'probe' | 'turn' | 'lane-only'

/**
 * `ready`: the delivery has its turn, or needs none. `waited`: it has got its turn some time after its look.
 * `move`: it has none and moves to its lane.
 */
export type TurnResult = 'ready' | 'waited' | 'move'

export type Isolation = ReturnType<typeof createIsolation>

/** A delivery between `Isolation.enter` and `leave`. */
export type Isolated = ReturnType<Isolation['enter']>

/** A few answers of a quick endpoint, on a busy worker. A slow endpoint costs its neighbours this wait once, not every time. */
const TURN_PATIENCE_MS = 250

/**
 * Bounds the concurrent deliveries of each subscription, so that one slow endpoint cannot occupy the worker, and the hanging
 * POSTs of each tenant (hanging-limit.ts), so that many of them cannot either.
 *
 * A delivery that finds no turn free waits a moment and then moves, once, to a lane. The deliveries of an endpoint that has let a
 * POST hang lately move there at once, even if it answers other POSTs in between, so that its circuit breaker stays closed. Such
 * a move costs one publish and one more delivery by the broker, however long the delivery waits, and delays only its own lane.
 */
export function createIsolation(deps: IsolationDeps) {
  const { turns: limits, patienceMs = TURN_PATIENCE_MS, publishToLane, movedToLane, nowMs } = deps
  /** A subscription has one entry from its first delivery that enters to the last one that leaves. */
  const bySubscription = new Map<SubscriptionId, SubscriptionTurns>()
  const hanging = createHangingLimit(deps)
  let isStopping = false

  function beyondLeast() {
    const sizes = [...bySubscription.values()].map(({ taken }) => taken.size).filter((size) => size >= limits.least)
    return { full: sizes.length, takenBeyond: sizes.reduce((sum, size) => sum + size - limits.least, 0) }
  }

  const turnsDeps = { limits, nowMs, beyondLeast }

  return {
    /** Takes in a delivery. It must leave in the end. */
    enter: (delivery: Delivery, source: Source) => {
      const turns = getOrCreate(bySubscription, delivery.subscriptionId, () => new SubscriptionTurns(turnsDeps))
      turns.deliveries += 1
      return {
        /** Call it after the look. Rejects while it waits for a turn if the worker stops. */
        waitForTurn: async (need: Need): Promise<TurnResult> => {
          if (need === 'nothing') return 'ready'
          if (source === 'due' && (need === 'lane-only' || hanging.isExceededBy(delivery))) return 'move'
          if (need === 'probe' || turns.take(delivery)) return 'ready'
          // After one has waited in vain, the next would, too.
          if (source === 'due' && (isStopping || turns.isCrowded)) return 'move'
          if (isStopping) throw new Stopping()
          const isItsTurn = await turns.wait(delivery, source === 'due' ? patienceMs : undefined)
          return isItsTurn ? 'waited' : 'move'
        },
        /** Resolves once the broker has confirmed it in its lane, with attempt and slot unchanged. */
        moveToLane: async (): Promise<void> => {
          await publishToLane(delivery)
          movedToLane?.()
        },
        /** Counts a request among those of its tenant, until the returned function is called. */
        writing: (): (() => void) => hanging.began(delivery),
        /** Adapts the turns of its subscription to the result of the POST. */
        posted: (result: PostResult): void => {
          hanging.recordDuration(delivery, result.durationMs)
          turns.earn(result)
        },
        leave: (): void => {
          turns.end(delivery)
          turns.deliveries -= 1
          if (turns.deliveries === 0) bySubscription.delete(delivery.subscriptionId)
        },
      }
    },
    /** Returns waiting deliveries to the broker. */
    stop: (): void => {
      isStopping = true
      for (const turns of bySubscription.values()) turns.stop()
    },
  }
}
