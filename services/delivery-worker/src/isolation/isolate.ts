import { crc32 } from 'node:zlib'
import { type Delivery, type SubscriptionId, Unavailable } from '@switchhook/contracts'
import { type Answer, type Pace, paceAfter, type TurnLimits, turnsAt, turnsWithin } from './turn-limit.ts'

/** Where a delivery was consumed from. */
export type Source = 'due' | 'lane'

export interface IsolationDeps {
  /** Turns in this worker: the concurrent deliveries of a subscription. */
  readonly turns: TurnLimits
  readonly lanes: number
  /** How long a delivery from a due queue waits for a turn before it moves to a lane. Quick endpoints then need no lane. */
  readonly patienceMs: number
  /** Resolves once the broker has confirmed the delivery in the lane. */
  readonly publishToLane: (delivery: Delivery, lane: number) => Promise<void>
  /** Called after the broker's confirm. */
  readonly movedToLane?: () => void
  /** Monotonic, in ms. */
  readonly nowMs: () => number
}

/** Bounds the concurrent deliveries of each subscription, so that one slow endpoint cannot occupy the worker. */
export interface Isolation {
  /** Takes a turn if the subscription has one free. */
  readonly take: (delivery: Delivery) => boolean
  /**
   * Waits for a turn. A delivery from a lane waits until its subscription has one free. A delivery from a due queue waits for
   * `patienceMs`, or not at all while its subscription is crowded.
   * Resolves to whether it has a turn; if not, it belongs in a lane. Rejects when the worker stops.
   */
  readonly wait: (delivery: Delivery, source: Source) => Promise<boolean>
  /** Adapts the number of turns to the result of a delivery's POST. Call it before `release`. */
  readonly noteAnswer: (delivery: Delivery, answer: Answer) => void
  /** Hands the turn of a delivery to the next that waits. */
  readonly release: (delivery: Delivery) => void
  /** Resolves once the broker has confirmed the delivery, with attempt and slot unchanged, in its subscription's lane. */
  readonly moveToLane: (delivery: Delivery) => Promise<void>
  /** Returns waiting deliveries to the broker. */
  readonly stop: () => void
}

/** The turns of one subscription, and the deliveries that wait for one. */
interface Room {
  taken: number
  /** Turns taken by retries. */
  takenByRetries: number
  pace: Pace
  readonly waiting: Waiter[]
  /** A delivery has waited in vain since a turn was last free. While set, excess deliveries move to the lane at once. */
  isCrowded: boolean
}

interface Waiter {
  readonly isRetry: boolean
  readonly go: () => void
  readonly giveUp: (reason: Unavailable) => void
}

/** The share of the turns that only first attempts may take, so that a backlog of retries never starves them. */
const RESERVED_SHARE = 0.2

/** The prefetch of a lane, in caps. Deliveries that need no turn pass through quickly, so it is more than one. */
export const LANE_DEPTH = 4

/** How many of a subscription's turns its retries may take at once. */
export const turnsForRetries = (turns: number): number => Math.max(1, Math.floor(turns * (1 - RESERVED_SHARE)))

/** The lane of a subscription. Always the same, so that its deliveries form one queue. */
export const laneOf = (subscription: SubscriptionId, lanes: number): number => crc32(subscription) % lanes

/**
 * Each subscription has `turns.least` turns per worker, and more while its endpoint answers quickly. A delivery that finds
 * none free waits a moment and then moves, once, to a lane. Lanes are consumed at the pace of their subscriptions. A deferred
 * delivery therefore costs one publish and one more delivery by the broker, however long it waits, and it delays only its own
 * lane.
 */
export function createIsolation(deps: IsolationDeps): Isolation {
  const { turns: limits, lanes, patienceMs, publishToLane, movedToLane, nowMs } = deps
  const { least } = limits
  const rooms = new Map<SubscriptionId, Room>()
  /** Rooms with `least` turns or more taken, and the turns beyond that. */
  let full = 0
  let takenBeyond = 0
  let isStopping = false

  function hasTurn({ taken, takenByRetries, pace }: Room, forRetry: boolean): boolean {
    // Below `least` the limits of other rooms do not matter.
    const turns =
      taken < least ? least : turnsWithin(turnsAt(pace, nowMs(), limits), { taken, full, takenBeyond }, limits)
    return taken < turns && (!forRetry || takenByRetries < turnsForRetries(turns))
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

  /** Resolves to whether a turn became free within `patienceMs`. */
  function waitPatiently(room: Room, forRetry: boolean): Promise<boolean> {
    return new Promise((resolve, giveUp) => {
      const go = (): void => {
        clearTimeout(timer)
        resolve(true)
      }
      const waiter: Waiter = {
        isRetry: forRetry,
        go,
        giveUp: (reason) => {
          clearTimeout(timer)
          giveUp(reason)
        },
      }
      const timer = setTimeout(() => {
        room.waiting.splice(room.waiting.indexOf(waiter), 1)
        room.isCrowded = true
        resolve(false)
      }, patienceMs)
      room.waiting.push(waiter)
    })
  }

  return {
    take,
    wait: async (delivery, source) => {
      // A turn may have become free during the look, and a room without turns taken is gone from the map.
      if (take(delivery)) return true
      const room = roomOf(delivery)
      if (source === 'due') return !isStopping && !room.isCrowded && (await waitPatiently(room, isRetry(delivery)))
      if (isStopping) throw stopping()
      await new Promise<void>((go, giveUp) => void room.waiting.push({ isRetry: isRetry(delivery), go, giveUp }))
      return true
    },
    noteAnswer: (delivery, answer) => {
      const room = roomOf(delivery)
      room.pace = paceAfter(room.pace, answer, { taken: room.taken, nowMs: nowMs(), limits })
    },
    release: (delivery) => {
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
    },
    moveToLane: async (delivery) => {
      await publishToLane(delivery, laneOf(delivery.subscriptionId, lanes))
      movedToLane?.()
    },
    stop: () => {
      isStopping = true
      for (const { waiting } of rooms.values()) {
        for (const { giveUp } of waiting.splice(0)) giveUp(stopping())
      }
    },
  }
}

const isRetry = ({ attempt }: Delivery): boolean => attempt > 0

const stopping = (): Unavailable => new Unavailable('rabbitmq', 'this worker is stopping')
