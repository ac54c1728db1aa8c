import type { Delivery, DeliveryId, SubscriptionId } from '@switchhook/contracts'
import { isSettledBy, parseLedger } from '../deliveries/delivery-record.ts'
import { type HeldMessage, parseHeldMessage } from '../deliveries/held-message.ts'
import { createHeldVisits } from '../deliveries/held-visits.ts'
import type { Installation } from '../installation/installation.ts'
import {
  type Endpoint,
  heldExtrasKey,
  heldKey,
  heldMessageKey,
  leasedKey,
  parkingKey,
  recordKey,
  reportedKey,
  timedKeys,
} from '../keys.ts'
import type { Commands } from '../redis/commands.ts'
import { execute, pipeline, type Redis, runScript } from '../redis/redis.ts'
import { createHeldLeases, type HeldEntry, heldEntriesOf, leaseTimes } from './held-leases.ts'

export type HeldCount = Awaited<ReturnType<typeof countHeld>>

/** What was reported under a lease goes with it. */
const KEYS_OF = {
  held: (id: SubscriptionId) => [heldKey(id), heldExtrasKey(id)],
  leased: (id: SubscriptionId) => [leasedKey(id), heldExtrasKey(id), reportedKey(id)],
  parking: (id: SubscriptionId) => [parkingKey(id)],
}

export type HeldStore = ReturnType<typeof createHeldStore>

/**
 * The held deliveries of subscriptions. `DeliveryStore.settle` holds one: it writes its message with the ledger, then lists it.
 * An entry can be stale, because its delivery has gone on; the message decides. While a client or a worker has a delivery, it is
 * in the list of leases instead (held-leases.ts).
 *
 * ```
 *                 ┌─ a visit ─────→ published → message forgotten → entry removed
 * stored → listed ┼─ a client ────→ leased → reported → recorded → lease removed
 *                 └─ over a limit → claimed → parked → entry removed
 * ```
 *
 * | done | if the process dies here | if it is done twice |
 * | --- | --- | --- |
 * | stored | the settled message returns to a worker, which lists the delivery again | the ledger compares, and writes nothing |
 * | listed | as `stored`: it asks for the visit that may be missing | it is listed once |
 * | a visit is claimed | another worker visits after 30 s | two workers do each of the following |
 * | published | it is published again with the same token | the ledger drops the second message |
 * | message forgotten | the next reader finds no message, and removes the entry | nothing: a message that is held again has another token |
 * | leased to a client | the lease ends, and counts as an attempt in the same slot | it costs one attempt number more, if two visits end the lease |
 * | leased to a worker that passes it on | the lease ends, and the delivery is listed again without an attempt | as `published` |
 * | reported | a visit records the outcome after 30 s | the lease has another name by then: the second report is refused |
 * | recorded | the batch returns; its token has gone on, so it only repeats the notice and ends the lease | as if the process dies |
 * | claimed, to be parked | a visit parks it after 9 s | a delivery is parked once, and its notice has a derived id |
 *
 * `held-model.it.test.ts` of the worker ends processes between any two of these.
 */
export function createHeldStore(redis: Redis) {
  const visits = createHeldVisits(redis)

  /**
   * The deliveries that are held now. Undefined: it has gone on, or its message has expired. One command reads message and
   * record of a delivery, because one script writes both.
   */
  async function read(ids: readonly DeliveryId[]): Promise<(HeldMessage | undefined)[]> {
    const stored = await pipeline(redis, (commands) =>
      ids.map((id) => commands.mgetBuffer(heldMessageKey(id), recordKey(id))),
    )
    return stored.map(([message, record]) => {
      const ledger = parseLedger(record?.toString() ?? '')
      if (message == null || ledger === undefined) return undefined
      const held = parseHeldMessage(message)
      return isSettledBy(ledger, held.delivery) ? undefined : held
    })
  }

  /** The first entries of a list whose score is at most that of now. */
  async function until(key: string, scoreOf: (nowMs: string) => string, offset: number, most: number) {
    const now = `${Math.floor(await redis.nowMs())}`
    const reply = await redis[execute]((commands) =>
      commands.zrange(key, '-inf', scoreOf(now), 'BYSCORE', 'LIMIT', offset, most, 'WITHSCORES'),
    )
    return heldEntriesOf(reply)
  }

  /** Removes entries from a list, unless they have changed since they were read. */
  async function remove(id: SubscriptionId, list: keyof typeof KEYS_OF, entries: readonly HeldEntry[]): Promise<void> {
    if (entries.length === 0) return
    const args = entries.flatMap(({ deliveryId, score }) => [deliveryId, score])
    await runScript(redis, 'held/remove-held', KEYS_OF[list](id), args)
  }

  return {
    ...createHeldLeases(redis, visits, { read, remove }),
    read,
    remove,
    count: (id: SubscriptionId): Promise<HeldCount> => redis[execute]((commands) => countHeld(commands, id)),
    /** Whether a delivery can be received now, for each subscription. One round trip. */
    async areDue(ids: readonly SubscriptionId[]): Promise<readonly boolean[]> {
      const [nowMs, ...first] = await pipeline(redis, (commands) => [
        commands.nowMs(),
        ...ids.map((id) => commands.zrange(heldKey(id), '0', '0', 'WITHSCORES')),
      ])
      return first.map(([, dueAt]) => dueAt !== undefined && Number(dueAt) <= nowMs)
    },
    /**
     * Deletes the messages of deliveries that the broker has confirmed, unless they are held again. Otherwise a late duplicate
     * would have them listed and published once more.
     */
    async forget(published: readonly Pick<Delivery, 'deliveryId' | 'token'>[]): Promise<void> {
      await pipeline(redis, (commands) =>
        published.map(({ deliveryId, token = '' }) =>
          commands.runScript('held/forget-message', [heldMessageKey(deliveryId)], [token]),
        ),
      )
    },
    /** Those that have been due for longest, and are not leased. */
    due: (
      id: SubscriptionId,
      { offset = 0, most }: { readonly offset?: number; readonly most: number },
    ): Promise<readonly HeldEntry[]> => until(heldKey(id), (nowMs) => nowMs, offset, most),
    lapsed: (id: SubscriptionId, most: number): Promise<readonly HeldEntry[]> =>
      until(leasedKey(id), (nowMs) => `${nowMs}999`, 0, most),
    /** Those that a worker was to park, and has not. */
    unparked: (id: SubscriptionId, most: number): Promise<readonly HeldEntry[]> =>
      until(parkingKey(id), (nowMs) => nowMs, 0, most),
    /** When the first of each list is due or ends, ms since 1970, and what time Redis has. One round trip. */
    async next(id: SubscriptionId) {
      const [, nowMs, [, dueAt], [, lease], [, parkedBy]] = await pipeline(redis, (commands) => [
        commands.runScript('held/keep-time', timedKeys(id), []),
        commands.nowMs(),
        commands.zrange(heldKey(id), '0', '0', 'WITHSCORES'),
        commands.zrange(leasedKey(id), '0', '0', 'WITHSCORES'),
        commands.zrange(parkingKey(id), '0', '0', 'WITHSCORES'),
      ])
      const lapsesAtMs = Math.min(
        lease === undefined ? Infinity : leaseTimes(lease).endsAtMs,
        parkedBy === undefined ? Infinity : Number(parkedBy),
      )
      return {
        nowMs,
        dueAtMs: dueAt === undefined ? null : Number(dueAt),
        lapsesAtMs: lapsesAtMs === Infinity ? null : lapsesAtMs,
      }
    },
    visits,
    /** Has a worker visit the subscription immediately. Call it when one that holds deliveries was changed or deleted. */
    visitSoon: (endpoint: Endpoint): Promise<void> => visits.askFor(endpoint, 0),
  }
}

/**
 * For workers: `read` finds no message only in the right Redis. Otherwise an outcome would count as recorded, or an entry as
 * settled.
 */
export function createConfirmedHeldStore(
  redis: Redis,
  { confirmAbsence }: Pick<Installation, 'confirmAbsence'>,
): HeldStore {
  const held = createHeldStore(redis)
  const isAbsence = (found: PromiseSettledResult<Awaited<ReturnType<HeldStore['read']>>>): boolean =>
    found.status === 'fulfilled' && found.value.includes(undefined)
  return { ...held, read: confirmAbsence(held.read, isAbsence) }
}

/**
 * @returns `count`: with the `leased` ones; `oldestAt`: since when the oldest of the others has been due (ISO 8601, UTC), null
 *   if there is none
 */
export async function countHeld(commands: Commands, id: SubscriptionId) {
  const [held, leased, [, since]] = await Promise.all([
    commands.zcard(heldKey(id)),
    commands.zcard(leasedKey(id)),
    commands.zrange(heldKey(id), '0', '0', 'WITHSCORES'),
  ])
  const oldestAt = since === undefined ? null : new Date(Number(since)).toISOString()
  return { count: held + leased, leased, oldestAt }
}
