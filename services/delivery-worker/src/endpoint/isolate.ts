import { crc32 } from 'node:zlib'
import { type Delivery, type SubscriptionId, Unavailable } from '@switchhook/contracts'
import { LANES } from '@switchhook/messaging'
import { createTenantShare, type TenantShareDeps } from './tenant-share.ts'
import { type Pace, type PostResult, paceAfter, type TurnLimits, turnsAt, turnsWithin } from './turn-limit.ts'

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

const startsInLane = (need: Need, isBeyondShare: boolean): boolean =>
  need === 'lane' || (isBeyondShare && need !== 'nothing')

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
interface Room {
  readonly taken: Set<Turn>
  pace: Pace
  readonly waiting: Waiter[]
  /** A delivery has timed out waiting since a turn was last free. While set, the next ones move to the lane without waiting. */
  isCrowded: boolean
}

interface Waiter {
  readonly isRetry: boolean
  readonly go: (turn: Turn) => void
  readonly giveUp: (reason: Unavailable) => void
}

/** A few answers of a quick endpoint, on a busy worker. A slow endpoint costs its neighbours this wait once, not every time. */
const TURN_PATIENCE_MS = 250

/** The share of the turns that only first attempts may take, so that a backlog of retries never starves them. */
const RESERVED_SHARE = 0.2

/** The prefetch of a lane, in caps. Deliveries that need no turn pass through quickly, so it is more than one. */
export const LANE_DEPTH = 4

/** The lane of a subscription. Always the same, so that its deliveries form one queue. */
export const laneOf = (subscription: SubscriptionId): number => crc32(subscription) % LANES

/**
 * Bounds the concurrent deliveries of each subscription, so that one slow endpoint cannot occupy the worker, and the hanging
 * POSTs of each tenant (tenant-share.ts), so that many of them cannot either.
 *
 * Each subscription has `turns.least` turns per worker, and more while its endpoint answers quickly. A delivery that finds
 * none free waits a moment and then moves, once, to a lane. The deliveries of an endpoint that has let a POST hang lately
 * move there at once, even if it answers other POSTs in between, so that its circuit breaker stays closed. Lanes are consumed
 * at the pace of their subscriptions. A deferred delivery therefore costs one publish and one more delivery by the broker,
 * however long it waits, and it delays only its own lane.
 */
export function createIsolation(deps: IsolationDeps) {
  const { turns: limits, patienceMs = TURN_PATIENCE_MS, publishToLane, movedToLane, nowMs } = deps
  const { least } = limits
  const rooms = new Map<SubscriptionId, Room>()
  const share = createTenantShare(deps)
  let isStopping = false

  /** Of the subscriptions that have taken `least` turns or more: how many they are, and their further turns. */
  function beyondLeast(): { readonly full: number; readonly takenBeyond: number } {
    const sizes = [...rooms.values()].map(({ taken }) => taken.size).filter((size) => size >= least)
    return { full: sizes.length, takenBeyond: sizes.reduce((sum, size) => sum + size - least, 0) }
  }

  function hasTurn({ taken, pace }: Room, forRetry: boolean): boolean {
    const turns =
      taken.size < least
        ? least
        : turnsWithin(turnsAt(pace, nowMs(), limits), { taken: taken.size, ...beyondLeast() }, limits)
    if (taken.size >= turns) return false
    const forRetries = Math.max(1, Math.floor(turns * (1 - RESERVED_SHARE)))
    return !forRetry || [...taken].filter(({ isRetry }) => isRetry).length < forRetries
  }

  const roomOf = ({ subscriptionId }: Delivery): Room =>
    rooms.get(subscriptionId) ?? { taken: new Set(), pace: undefined, waiting: [], isCrowded: false }

  function addTurn({ taken }: Room, isRetry: boolean): Turn {
    const turn = { isRetry }
    taken.add(turn)
    return turn
  }

  function take(delivery: Delivery): Turn | undefined {
    const room = roomOf(delivery)
    if (!hasTurn(room, isRetry(delivery))) return undefined
    if (room.waiting.length === 0) room.isCrowded = false
    rooms.set(delivery.subscriptionId, room)
    return addTurn(room, isRetry(delivery))
  }

  /** Undefined: the delivery belongs in a lane. */
  async function wait(delivery: Delivery, source: Source): Promise<Turn | undefined> {
    // A turn may have become free during the look, and a room without turns taken is gone from the map.
    const turn = take(delivery)
    if (turn !== undefined) return turn
    const room = roomOf(delivery)
    if (source === 'due' && (isStopping || room.isCrowded)) return undefined
    if (isStopping) throw stopping()
    const { promise: inTurn, resolve, reject: giveUp } = Promise.withResolvers<Turn | undefined>()
    const waiter: Waiter = { isRetry: isRetry(delivery), go: resolve, giveUp }
    room.waiting.push(waiter)
    if (source === 'lane') return inTurn
    // oxlint-disable-next-line no-restricted-globals -- patience: moving to a lane counts as no failure
    const patience = setTimeout(() => {
      room.waiting.splice(room.waiting.indexOf(waiter), 1)
      room.isCrowded = true
      resolve(undefined)
    }, patienceMs)
    return inTurn.finally(() => clearTimeout(patience))
  }

  function release(delivery: Delivery, turn: Turn): void {
    const room = roomOf(delivery)
    room.taken.delete(turn)
    // More than one may go: the answer of this delivery may have added a turn.
    while (room.waiting.length > 0 && hasTurn(room, false)) {
      const mayRetry = hasTurn(room, true)
      const place = room.waiting.findIndex((waiter) => mayRetry || !waiter.isRetry)
      const [next] = place < 0 ? [] : room.waiting.splice(place, 1)
      if (next === undefined) break
      // Taken here, before the waiting delivery runs, so that no other can take the turn in between.
      next.go(addTurn(room, next.isRetry))
    }
    if (room.taken.size === 0) rooms.delete(delivery.subscriptionId)
  }

  async function moveToLane(delivery: Delivery): Promise<void> {
    await publishToLane(delivery, laneOf(delivery.subscriptionId))
    movedToLane?.()
  }

  return {
    /**
     * Runs the work of a delivery in one of its subscription's turns, or without one if it needs none. A delivery from a lane
     * waits until a turn is free. A delivery from a due queue waits for `patienceMs`, or not at all while its subscription is
     * crowded, its endpoint hangs or its tenant exceeds its share; then it moves to its lane instead: the broker has confirmed
     * it there, with attempt and slot unchanged.
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
        if (source === 'due' && startsInLane(need, isBeyondShare)) {
          await giveUpProbe?.(found)
          return await moveToLane(delivery)
        }
        if (turn === undefined && (need === 'turn' || need === 'lane')) {
          turn = await wait(delivery, source)
          if (turn === undefined) return await moveToLane(delivery)
          if (!isFresh(found)) found = await look()
        }
        if (needs(found) !== 'nothing') share.began(delivery)
        await work(found)
      } finally {
        share.ended(delivery)
        if (turn !== undefined) release(delivery, turn)
      }
    },
    /** Adapts the turns and the places of an endpoint to the result of a POST. Call it within the work of the delivery. */
    notePost: (delivery: Delivery, result: PostResult): void => {
      share.ended(delivery)
      share.noteDuration(delivery, result.durationMs)
      const room = roomOf(delivery)
      room.pace = paceAfter(room.pace, result, { taken: room.taken.size, nowMs: nowMs(), limits })
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
