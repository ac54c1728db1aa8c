import { crc32 } from 'node:zlib'
import { type Delivery, type SubscriptionId, Unavailable } from '@switchhook/contracts'

export interface IsolationDeps {
  /** Most deliveries of one subscription that are in hand at once, in this worker. */
  readonly cap: number
  readonly lanes: number
  /** How long a delivery that has fallen due waits here for a turn, before it moves aside: quick endpoints need no lane. */
  readonly patienceMs: number
  readonly deliver: (delivery: Delivery) => Promise<void>
  /** Asked when there is no turn: resolves to whether none is needed, and all is done. */
  readonly withoutTurn: (delivery: Delivery) => Promise<boolean>
  /** Resolves once the broker has confirmed that the delivery waits in the lane. */
  readonly moveAside: (delivery: Delivery, lane: number) => Promise<void>
}

/** Keeps one subscription's deliveries from taking the room of all others. */
export interface Isolation {
  /** Of a delivery that has just fallen due: its turn now, or a place in the lane of its subscription. */
  readonly due: (delivery: Delivery) => Promise<void>
  /** Of a delivery from a lane: its turn, as soon as its subscription has one free. */
  readonly fromLane: (delivery: Delivery) => Promise<void>
  /** Whoever waits for a turn goes back to the broker. */
  readonly stop: () => void
}

/** What one subscription has in hand, and who waits for a turn. */
interface Room {
  inHand: number
  /** Of these, the retries. */
  retries: number
  readonly waiting: Waiter[]
  /** Somebody has waited in vain since there was last a turn to take: nobody waits here any more, all move aside at once. */
  isCrowded: boolean
}

interface Waiter {
  readonly isRetry: boolean
  readonly go: () => void
  readonly giveUp: (reason: Unavailable) => void
}

/** Of the room, what only first attempts may use: retries of a backlog never starve them. */
const RESERVED_PART = 0.2

/** How many of a subscription's turns its retries may hold at once. */
export const turnsForRetries = (cap: number): number => Math.max(1, Math.floor(cap * (1 - RESERVED_PART)))

/** Always the same for a subscription, so its deliveries wait in one line. */
export const laneOf = (subscription: SubscriptionId, lanes: number): number => crc32(subscription) % lanes

/**
 * A subscription that has as many deliveries in hand as it may have gets no more; what falls due meanwhile waits a moment,
 * and moves aside then, once, attempt and slot unchanged, to a lane that is consumed at its pace. So a deferred delivery
 * costs one publish and one more delivery by the broker, however long it waits, and holds up nobody outside of its lane.
 * What needs no POST needs no turn, and is not deferred.
 */
export function createIsolation({ cap, lanes, patienceMs, deliver, withoutTurn, moveAside }: IsolationDeps): Isolation {
  const rooms = new Map<SubscriptionId, Room>()
  const capForRetries = turnsForRetries(cap)
  const hasTurn = (room: Room, forRetry: boolean): boolean =>
    room.inHand < cap && (!forRetry || room.retries < capForRetries)

  let isStopping = false

  const roomOf = ({ subscriptionId }: Delivery): Room =>
    rooms.get(subscriptionId) ?? { inHand: 0, retries: 0, waiting: [], isCrowded: false }

  function count(room: Room, forRetry: boolean, change: 1 | -1): void {
    room.inHand += change
    if (forRetry) room.retries += change
  }

  function takeTurn(delivery: Delivery): boolean {
    const room = roomOf(delivery)
    if (!hasTurn(room, isRetry(delivery))) return false
    if (room.waiting.length === 0) room.isCrowded = false
    count(room, isRetry(delivery), 1)
    rooms.set(delivery.subscriptionId, room)
    return true
  }

  /** A turn that is over is handed to whoever waits; in between nobody else can take it. */
  function handOn(delivery: Delivery): void {
    const room = roomOf(delivery)
    count(room, isRetry(delivery), -1)
    const place = room.waiting.findIndex((waiter) => hasTurn(room, waiter.isRetry))
    const [next] = place < 0 ? [] : room.waiting.splice(place, 1)
    if (next !== undefined) {
      count(room, next.isRetry, 1)
      next.go()
    } else if (room.inHand === 0) rooms.delete(delivery.subscriptionId)
  }

  /** Resolves to whether it has got a turn. */
  function waitForTurn(room: Room, forRetry: boolean): Promise<boolean> {
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

  async function useTurn(delivery: Delivery): Promise<void> {
    try {
      await deliver(delivery)
    } finally {
      handOn(delivery)
    }
  }

  return {
    due: async (delivery) => {
      if (!takeTurn(delivery)) {
        if (await withoutTurn(delivery)) return
        // The room that was full before may have been emptied and left meanwhile.
        if (!takeTurn(delivery)) {
          const room = roomOf(delivery)
          if (isStopping || room.isCrowded || !(await waitForTurn(room, isRetry(delivery)))) {
            return moveAside(delivery, laneOf(delivery.subscriptionId, lanes))
          }
        }
      }
      await useTurn(delivery)
    },
    fromLane: async (delivery) => {
      if (!takeTurn(delivery)) {
        if (await withoutTurn(delivery)) return
        if (!takeTurn(delivery)) {
          if (isStopping) throw stops()
          const { waiting } = roomOf(delivery)
          await new Promise<void>((go, giveUp) => void waiting.push({ isRetry: isRetry(delivery), go, giveUp }))
        }
      }
      await useTurn(delivery)
    },
    stop: () => {
      isStopping = true
      for (const { waiting } of rooms.values()) {
        for (const { giveUp } of waiting.splice(0)) giveUp(stops())
      }
    },
  }
}

const isRetry = ({ attempt }: Delivery): boolean => attempt > 0

const stops = (): Unavailable => new Unavailable('rabbitmq', 'this worker stops')
