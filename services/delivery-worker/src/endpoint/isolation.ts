import type { Delivery, SubscriptionId } from '@switchhook/contracts'
import { getOrCreate } from '@switchhook/runtime'
import { createHangingLimit, type HangingLimitDeps } from './hanging-limit.ts'
import { Stopping } from './stopping.ts'
import { isRetry, type PostResult, SubscriptionTurns, type TurnLimits } from './subscription-turns.ts'

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
 * Whether a delivery goes on without a turn or with one, waits for one, or moves to its lane. Six bounds together keep
 * the promise that a slow endpoint does not delay others. Of a worker's due deliveries, it holds for longer than
 * `patienceMs` at most `least + beyondLeast` and a probe (by default 10 + 75 of 200, at worst each in one of the 100 packets):
 * - turns (subscription-turns.ts): `least` POSTs, and as many of `beyondLeast` as it earned while it was quick;
 * - patience: one wait when it becomes crowded, and from then on its deliveries move at once;
 * - `lane-only` (stages.ts): only a probe after a POST that hung lately, even if it answers others in between;
 * - hanging limit (hanging-limit.ts): with the others of its tenant, `mostHanging` POSTs and those of the last second;
 * - prefetch of lanes (bounds.ts): what has moved, at the cost of one publish, delays only its own lane;
 * - start limit (start-limit.ts): a POST that hangs does not keep the members of other packets from starting.
 */
export function turnOrLane(
  delivery: Delivery,
  need: Need,
  source: Source,
  turns: Pick<SubscriptionTurns, 'isFree' | 'isCrowded'>,
  hanging: Pick<ReturnType<typeof createHangingLimit>, 'isExceededBy'>,
): 'no turn' | 'turn' | 'wait' | 'lane' {
  if (need === 'nothing') return 'no turn'
  if (source === 'due' && (need === 'lane-only' || hanging.isExceededBy(delivery))) return 'lane'
  if (need === 'probe') return 'no turn'
  if (turns.isFree(isRetry(delivery))) return 'turn'
  // After one has waited in vain, the next would, too.
  return source === 'due' && turns.isCrowded ? 'lane' : 'wait'
}

/** Carries out `turnOrLane`. */
export function createIsolation(deps: IsolationDeps) {
  const { turns: limits, patienceMs = TURN_PATIENCE_MS, publishToLane, movedToLane, nowMs } = deps
  /** A subscription has one entry from its first delivery that enters to the last one that leaves. */
  const bySubscription = new Map<SubscriptionId, SubscriptionTurns>()
  const hanging = createHangingLimit(deps)
  let isStopping = false

  function countFull() {
    const sizes = [...bySubscription.values()].map(({ taken }) => taken.size).filter((size) => size >= limits.least)
    return { full: sizes.length, takenBeyond: sizes.reduce((sum, size) => sum + size - limits.least, 0) }
  }

  const turnsDeps = { limits, nowMs, countFull }

  return {
    /** Takes in a delivery. It must leave in the end. */
    enter: (delivery: Delivery, source: Source) => {
      const turns = getOrCreate(bySubscription, delivery.subscriptionId, () => new SubscriptionTurns(turnsDeps))
      turns.deliveries += 1
      return {
        /** Call it after the look. Rejects while it waits for a turn if the worker stops. */
        waitForTurn: async (need: Need): Promise<TurnResult> => {
          const next = turnOrLane(delivery, need, source, turns, hanging)
          if (next === 'turn') turns.take(delivery)
          if (next !== 'wait') return next === 'lane' ? 'move' : 'ready'
          if (isStopping && source === 'due') return 'move'
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
