import { deliveryIdOf, parseEventId, type SubscriptionId } from '@switchhook/contracts'
import { LEDGER_BYTES, parseLedger } from '../deliveries/delivery-record.ts'
import { heldKey, heldMessageKey, leasedKey, logKey, parkedKey, recordKey } from '../keys.ts'
import { isoTime, scoredEntries } from '../paging.ts'
import { pipeline, type Redis, run } from '../redis/redis.ts'
import { rememberedOf } from './event-record.ts'

/** How many deliveries of a subscription are in which state now. */
export interface DeliveryCounts {
  /** Without a finished attempt, among the `looked` latest deliveries. */
  readonly pending: number
  /** Waiting for their next attempt, likewise. */
  readonly waiting: number
  readonly looked: number
  /** All that are held, with those that a client has received. */
  readonly held: number
  /** ISO 8601, UTC: since when the oldest that no client has received is due; null: there is none. */
  readonly oldestHeldAt: string | null
  /** All of them. Can briefly include deliveries that are no longer parked. */
  readonly parked: number
  /** ISO 8601, UTC; null: none is parked. */
  readonly oldestParkedAt: string | null
}

interface CountQuery {
  /** Deliveries to look at, at most. */
  readonly most: number
  /** The endpoint failed lately. If it did not, the look ends where all deliveries are over. */
  readonly isFailing: boolean
}

export interface DeliveryCounter {
  read(subscriptionId: SubscriptionId, query: CountQuery): Promise<DeliveryCounts>
}

const AT_ONCE = 100

/** @param member of the delivery log: `<event>:<event type>` */
const eventIdOf = (member: string) => parseEventId(member.slice(0, member.indexOf(':')))

/** Counts from the delivery log and the ledgers, because a counter in the path of deliveries would cost each of them. */
export function createDeliveryCounter(redis: Redis): DeliveryCounter {
  async function statesOf(subscriptionId: SubscriptionId, members: readonly string[]): Promise<(string | undefined)[]> {
    const eventIds = members.map(eventIdOf)
    const ledgers = await pipeline(redis, (commands) =>
      eventIds.map((id) => commands.getrange(recordKey(deliveryIdOf(id, subscriptionId)), 0, LEDGER_BYTES - 1)),
    )
    const states = ledgers.map((stored) => parseLedger(stored)?.state as string | undefined)
    const remembered = await rememberedOf(
      redis,
      eventIds.filter((_, i) => states[i] === undefined),
    )
    return eventIds.map((id, i) => states[i] ?? (remembered.has(id) ? 'pending' : undefined))
  }

  /** The ledger of a held delivery says that it waits. */
  async function withHeld(
    subscriptionId: SubscriptionId,
    members: readonly string[],
    states: readonly (string | undefined)[],
  ): Promise<(string | undefined)[]> {
    const waiting = states.flatMap((state, i) => (state === 'waiting' ? [i] : []))
    const ids = waiting.map((i) => deliveryIdOf(eventIdOf(members[i] ?? ''), subscriptionId))
    const isHeld = await pipeline(redis, (commands) => ids.map((id) => commands.exists(heldMessageKey(id))))
    const held = new Set(waiting.filter((_, n) => isHeld[n] === 1))
    return states.map((state, i) => (held.has(i) ? 'held' : state))
  }

  return {
    async read(subscriptionId, { most, isFailing }) {
      const [parked, oldest, listed, leased, [, heldSince]] = await pipeline(redis, (commands) => [
        commands.zcard(parkedKey(subscriptionId)),
        commands.zrange(parkedKey(subscriptionId), '0', '0', 'WITHSCORES'),
        commands.zcard(heldKey(subscriptionId)),
        commands.zcard(leasedKey(subscriptionId)),
        commands.zrange(heldKey(subscriptionId), '0', '0', 'WITHSCORES'),
      ])
      const held = listed + leased
      const [first] = scoredEntries(oldest)
      let [pending, waiting, looked] = [0, 0, 0]
      while (looked < most) {
        const count = Math.min(AT_ONCE, most - looked)
        const members = await redis[run]((commands) =>
          commands.zrevrange(logKey(subscriptionId), looked, looked + count - 1),
        )
        const ledgers = members.length === 0 ? [] : await statesOf(subscriptionId, members)
        const states = held === 0 ? ledgers : await withHeld(subscriptionId, members, ledgers)
        const found = (wanted: string): number => states.filter((state) => state === wanted).length
        const isQuiet = found('pending') + found('waiting') + found('held') === 0
        pending += found('pending')
        waiting += found('waiting')
        looked += members.length
        if (members.length < count || (isQuiet && !isFailing)) break
      }
      return {
        pending,
        waiting,
        looked,
        held,
        oldestHeldAt: heldSince === undefined ? null : new Date(Number(heldSince)).toISOString(),
        parked,
        oldestParkedAt: first === undefined ? null : isoTime(first.since),
      }
    },
  }
}
