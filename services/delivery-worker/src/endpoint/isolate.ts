import { crc32 } from 'node:zlib'
import { type Delivery, type SubscriptionId, Unavailable } from '@switchhook/contracts'
import { LANES } from '@switchhook/messaging'
import { LRUCache } from 'lru-cache'
import type { Clocks } from '../clocks.ts'
import { type Pace, type PostResult, paceAfter, type TurnLimits, turnsAt, turnsWithin } from './turn-limit.ts'

/** Where a delivery was consumed from. */
export type Source = 'due' | 'lane'

export interface IsolationDeps extends Pick<Clocks, 'nowMs'> {
  /** Turns in this worker: the concurrent deliveries of a subscription. */
  readonly turns: TurnLimits
  /** How long a delivery from a due queue waits for a turn before it moves to a lane. Quick endpoints then need no lane. */
  readonly patienceMs?: number
  /** Resolves once the broker has confirmed the delivery in the lane. */
  readonly publishToLane: (delivery: Delivery, lane: number) => Promise<void>
  /** Called after the broker's confirm. */
  readonly movedToLane?: () => void
}

/** What runs in a turn, if it needs one. `Found` is the result of its look. */
interface TurnWork<Found> {
  /** Runs before the wait for a turn, so that a delivery that needs none is not delayed. */
  readonly look: () => Promise<Found>
  readonly needsTurn: (found: Found) => boolean
  /** All other deliveries of the endpoint wait for this one. */
  readonly isProbe?: (found: Found) => boolean
  /** Whether `found` is still valid after the wait for a turn. If not, `look` runs again. */
  readonly isFresh: (found: Found) => boolean
  readonly work: (found: Found) => Promise<void>
}

export type Isolation = ReturnType<typeof createIsolation>

/** The turns of one subscription, and the deliveries that wait for one. */
interface Room {
  taken: number
  takenByRetries: number
  pace: Pace
  readonly waiting: Waiter[]
  /** A delivery has timed out waiting since a turn was last free. While set, the next ones move to the lane without waiting. */
  isCrowded: boolean
}

interface Waiter {
  readonly isRetry: boolean
  readonly go: () => void
  readonly giveUp: (reason: Unavailable) => void
}

/** A few answers of a quick endpoint, on a busy worker. A slow endpoint costs its neighbours this wait once, not every time. */
const TURN_PATIENCE_MS = 250

/** The share of the turns that only first attempts may take, so that a backlog of retries never starves them. */
const RESERVED_SHARE = 0.2

/** A failed POST that took so long has held its place of the due queue for too long. */
const HANGING_MS = 1_000
/** So many answers in a row show that an endpoint no longer hangs: one that answers one POST in two gives them rarely. */
const ANSWERS_IN_A_ROW = 8
/** More endpoints than hang at a time. The one that was asked longest ago is forgotten, and may hang a few times more. */
const MAX_HANGING = 10_000

/** The prefetch of a lane, in caps. Deliveries that need no turn pass through quickly, so it is more than one. */
export const LANE_DEPTH = 4

/** The lane of a subscription. Always the same, so that its deliveries form one queue. */
export const laneOf = (subscription: SubscriptionId): number => crc32(subscription) % LANES

/**
 * Bounds the concurrent deliveries of each subscription, so that one slow endpoint cannot occupy the worker.
 *
 * Each subscription has `turns.least` turns per worker, and more while its endpoint answers quickly. A delivery that finds
 * none free waits a moment and then moves, once, to a lane. The deliveries of an endpoint that has let a POST hang move there
 * at once, even if it answers other POSTs in between, so that its circuit breaker stays closed. Lanes are consumed at the pace of their subscriptions. A deferred
 * delivery therefore costs one publish and one more delivery by the broker, however long it waits, and it delays only its own
 * lane.
 */
export function createIsolation(deps: IsolationDeps) {
  const { turns: limits, patienceMs = TURN_PATIENCE_MS, publishToLane, movedToLane, nowMs } = deps
  const { least } = limits
  const rooms = new Map<SubscriptionId, Room>()
  /** Rooms with `least` turns or more taken, and the turns beyond that. */
  let full = 0
  let takenBeyond = 0
  let isStopping = false
  /** Endpoints that have let a POST hang, with the answers that are still missing. */
  const hanging = new LRUCache<SubscriptionId, number>({ max: MAX_HANGING })

  function noteHanging({ subscriptionId }: Delivery, { durationMs, isFailure }: PostResult): void {
    const missing = hanging.get(subscriptionId)
    if (isFailure && (missing !== undefined || durationMs >= HANGING_MS)) hanging.set(subscriptionId, ANSWERS_IN_A_ROW)
    else if (missing === 1) hanging.delete(subscriptionId)
    else if (missing !== undefined && !isFailure) hanging.set(subscriptionId, missing - 1)
  }

  function hasTurn({ taken, takenByRetries, pace }: Room, forRetry: boolean): boolean {
    const turns = turnsWithin(turnsAt(pace, nowMs(), limits), { taken, full, takenBeyond }, limits)
    const forRetries = Math.max(1, Math.floor(turns * (1 - RESERVED_SHARE)))
    return taken < turns && (!forRetry || takenByRetries < forRetries)
  }

  const roomOf = ({ subscriptionId }: Delivery): Room =>
    rooms.get(subscriptionId) ?? { taken: 0, takenByRetries: 0, pace: undefined, waiting: [], isCrowded: false }

  function count(room: Room, forRetry: boolean, change: 1 | -1): void {
    const before = room.taken
    room.taken += change
    if (forRetry) room.takenByRetries += change
    full += Number(room.taken >= least) - Number(before >= least)
    takenBeyond += Math.max(0, room.taken - least) - Math.max(0, before - least)
  }

  function take(delivery: Delivery): boolean {
    const room = roomOf(delivery)
    if (!hasTurn(room, isRetry(delivery))) return false
    if (room.waiting.length === 0) room.isCrowded = false
    count(room, isRetry(delivery), 1)
    rooms.set(delivery.subscriptionId, room)
    return true
  }

  /** Resolves to whether the delivery has a turn. If not, it belongs in a lane. */
  async function wait(delivery: Delivery, source: Source): Promise<boolean> {
    // A turn may have become free during the look, and a room without turns taken is gone from the map.
    if (take(delivery)) return true
    const room = roomOf(delivery)
    if (source === 'due' && (isStopping || room.isCrowded)) return false
    if (isStopping) throw stopping()
    const { promise: isInTurn, resolve, reject: giveUp } = Promise.withResolvers<boolean>()
    const waiter: Waiter = { isRetry: isRetry(delivery), go: () => resolve(true), giveUp }
    room.waiting.push(waiter)
    if (source === 'lane') return isInTurn
    // oxlint-disable-next-line no-restricted-globals -- patience: moving to a lane counts as no failure
    const patience = setTimeout(() => {
      room.waiting.splice(room.waiting.indexOf(waiter), 1)
      room.isCrowded = true
      resolve(false)
    }, patienceMs)
    return isInTurn.finally(() => clearTimeout(patience))
  }

  function release(delivery: Delivery): void {
    const room = roomOf(delivery)
    count(room, isRetry(delivery), -1)
    // More than one may go: the answer of this delivery may have added a turn.
    while (room.waiting.length > 0 && hasTurn(room, false)) {
      const mayRetry = hasTurn(room, true)
      const place = room.waiting.findIndex((waiter) => mayRetry || !waiter.isRetry)
      const [next] = place < 0 ? [] : room.waiting.splice(place, 1)
      if (next === undefined) break
      // Counted here, before the waiting delivery runs, so that no other can take the turn in between.
      count(room, next.isRetry, 1)
      next.go()
    }
    if (room.taken === 0) rooms.delete(delivery.subscriptionId)
  }

  return {
    /**
     * Runs the work of a delivery in one of its subscription's turns, or without one if it needs none. A delivery from a lane
     * waits until a turn is free. A delivery from a due queue waits for `patienceMs`, or not at all while its subscription is
     * crowded or its endpoint hangs; then it moves to its lane instead: the broker has confirmed it there, with attempt and slot unchanged.
     * Rejects while it waits if the worker stops.
     */
    inTurn: async <Found>(
      delivery: Delivery,
      source: Source,
      { look, needsTurn, isProbe, isFresh, work }: TurnWork<Found>,
    ): Promise<void> => {
      const startsInLane = source === 'due' && hanging.has(delivery.subscriptionId)
      let isInTurn = !startsInLane && take(delivery)
      try {
        let found = await look()
        if (!isInTurn && needsTurn(found)) {
          isInTurn = (!startsInLane || isProbe?.(found) === true) && (await wait(delivery, source))
          if (!isInTurn) {
            await publishToLane(delivery, laneOf(delivery.subscriptionId))
            return movedToLane?.()
          }
          if (!isFresh(found)) found = await look()
        }
        await work(found)
      } finally {
        if (isInTurn) release(delivery)
      }
    },
    /** Adapts the number of turns to the result of a POST. Call it within the work of the delivery. */
    notePost: (delivery: Delivery, result: PostResult): void => {
      noteHanging(delivery, result)
      const room = roomOf(delivery)
      room.pace = paceAfter(room.pace, result, { taken: room.taken, nowMs: nowMs(), limits })
    },
    /** Returns waiting deliveries to the broker. */
    stop: (): void => {
      isStopping = true
      for (const { waiting } of rooms.values()) {
        for (const { giveUp } of waiting.splice(0)) giveUp(stopping())
      }
    },
  }
}

const isRetry = ({ attempt }: Delivery): boolean => attempt > 0

const stopping = (): Unavailable => new Unavailable('rabbitmq', 'this worker is stopping')
