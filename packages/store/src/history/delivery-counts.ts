import { deliveryIdOf, parseEventId, type Subscription, type SubscriptionId } from '@switchhook/contracts'
import { LEDGER_BYTES, parseLedger } from '../deliveries/delivery-record.ts'
import { countHeld } from '../held/held-store.ts'
import { heldMessageKey, logKey, parkedKey, recordKey } from '../keys.ts'
import { isoTime, type ScoredEntry, scoredEntries } from '../paging.ts'
import { execute, pipeline, type Redis } from '../redis/redis.ts'
import type { JournalReader } from './journal-reader.ts'

const AT_ONCE = 100

/** Counts from the delivery log and the ledgers, because a counter in the path of deliveries would cost each of them. */
export function createDeliveryCounter(redis: Redis, journal: Pick<JournalReader, 'recent'>) {
  /** @param mayBeHeld some deliveries of the subscription are: their ledgers say that they wait */
  async function statesOf(
    subscriptionId: SubscriptionId,
    entries: readonly ScoredEntry[],
    isRecent: (atMs: number) => boolean,
    mayBeHeld: boolean,
  ) {
    const deliveries = entries.map(({ member, since }) => {
      const eventId = parseEventId(member.slice(0, member.indexOf(':')))
      return { id: deliveryIdOf(eventId, subscriptionId), sinceMs: Number(since) / 1_000 }
    })
    const ledgers = await pipeline(redis, (commands) =>
      deliveries.map(({ id }) => commands.getrange(recordKey(id), 0, LEDGER_BYTES - 1)),
    )
    const states = ledgers.map((stored) => parseLedger(stored)?.state)
    const waiting = mayBeHeld ? deliveries.filter((_, i) => states[i] === 'waiting') : []
    const messages = await pipeline(redis, (commands) => waiting.map(({ id }) => commands.exists(heldMessageKey(id))))
    const held = new Set(waiting.filter((_, i) => messages[i] === 1))
    return deliveries.map((delivery, i) => {
      if (held.has(delivery)) return 'held'
      return states[i] ?? (isRecent(delivery.sinceMs) ? 'pending' : undefined)
    })
  }

  return {
    /** @param isFailing the endpoint failed lately. If it did not, the read ends where all deliveries are over */
    async read(
      { id: subscriptionId, tenant }: Pick<Subscription, 'id' | 'tenant'>,
      { most, isFailing }: { most: number; isFailing: boolean },
    ) {
      const isRecent = await journal.recent(tenant)
      const [parked, [, parkedSince], held] = await pipeline(redis, (commands) => [
        commands.zcard(parkedKey(subscriptionId)),
        commands.zrange(parkedKey(subscriptionId), '0', '0', 'WITHSCORES'),
        countHeld(commands, subscriptionId),
      ])
      let [pending, waiting, looked] = [0, 0, 0]
      while (looked < most) {
        const count = Math.min(AT_ONCE, most - looked)
        const end = looked + count - 1
        const entries = scoredEntries(
          await redis[execute]((commands) => commands.zrevrange(logKey(subscriptionId), looked, end, 'WITHSCORES')),
        )
        const states = entries.length === 0 ? [] : await statesOf(subscriptionId, entries, isRecent, held.count > 0)
        const found = (wanted: string): number => states.filter((state) => state === wanted).length
        const isQuiet = found('pending') + found('waiting') + found('held') === 0
        pending += found('pending')
        waiting += found('waiting')
        looked += entries.length
        if (entries.length < count || (isQuiet && !isFailing)) break
      }
      return {
        /** Without a finished attempt, among the `looked` latest deliveries. */
        pending,
        /** Waiting for their next attempt, likewise. */
        waiting,
        looked,
        /** All that are held, with those that a client has received. */
        held: held.count,
        /** ISO 8601, UTC: since when the oldest that no client has received is due; null: there is none. */
        oldestHeldAt: held.oldestAt,
        /** All of them. Can briefly include deliveries that are no longer parked. */
        parked,
        /** ISO 8601, UTC; null: none is parked. */
        oldestParkedAt: parkedSince === undefined ? null : isoTime(parkedSince),
      }
    },
  }
}
