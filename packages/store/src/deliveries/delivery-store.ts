import { type Attempt, attemptsAfter, type Delivery, type ParkedCause, type ParkedReason } from '@switchhook/contracts'
import { oneAtATime } from '@switchhook/runtime'
import { type Endpoint, heldMessageKey } from '../keys.ts'
import { execute, type Redis } from '../redis/redis.ts'
import type { Continuation, MessageIdentity } from './delivery-record.ts'
import { createHeldList, type HeldExcess } from './held-list.ts'
import { heldMessageOf, parseHeldMessage } from './held-message.ts'
import { createHeldVisits } from './held-visits.ts'
import { createLedgerStore, type DeliveryRetention } from './ledger-store.ts'
import { createParkedList, type ParkedLimits } from './parked-list.ts'

/**
 * The first visit to a list comes sooner: since the worker read that the deliveries are held, that may have changed, and the
 * visit that followed the change may have found nothing. Later entries need none: while there is one, visits follow each other.
 */
const firstVisitMs = (visitInMs: number): number => Math.min(visitInMs, Math.max(1_000, visitInMs / 30))

/** The result of a slot. */
export type Settlement =
  | { readonly state: 'acknowledged' | 'withdrawn' | 'expired' }
  /** `next`: the confirmed message that continues the delivery in `slot`. */
  | { readonly state: 'waiting'; readonly slot: number; readonly nextAttemptAt: string; readonly next: Continuation }
  /**
   * `next`: the message that is held in `slot`. `visitInMs`: a worker visits the held deliveries of the subscription after this
   * time, in case that they are held no longer; sooner if it is the first of them.
   */
  | {
      readonly state: 'held'
      readonly slot: number
      readonly next: Continuation
      readonly dueInMs: number
      readonly visitInMs: number
    }
  | { readonly state: 'parked'; readonly reason: ParkedReason; readonly cause?: ParkedCause }

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

/** `already`: the slot was settled before. `excess`: held deliveries to be parked, because this one is held, too. */
interface SettleResult {
  readonly kind: 'written' | 'already'
  readonly excess?: readonly HeldExcess[]
}

/**
 * The ledgers, with the lists of the deliveries that are parked or held.
 * @param limits of the parked, and of the held, deliveries
 * @param verify rejects unless this Redis holds the data of the installation: it may have been emptied during a POST
 */
export function createDeliveryStore(
  redis: Redis,
  retention: DeliveryRetention,
  limits: ParkedLimits,
  verify: () => Promise<void>,
) {
  const parkedList = createParkedList(redis, retention, limits)
  const heldList = createHeldList(redis, createHeldVisits(redis), retention.parkedRetentionMs, limits)
  const ledgers = createLedgerStore(redis, retention)
  /** Redis has the only copy of what is parked or held: it must be the message's. After the write, so it counts. */
  const verified = oneAtATime<void, void>(verify)

  /** Stores the message of a delivery with its ledger, and lists it. */
  async function hold(
    delivery: Delivery,
    attempt: Attempt | null,
    { slot, next, dueInMs, visitInMs }: Extract<Settlement, { state: 'held' }>,
  ): Promise<SettleResult> {
    const { postponed: _, ...rest } = delivery
    // Redis' clock decides when it is due.
    const dueAtMs = Math.floor(await redis.nowMs()) + dueInMs
    const nextAttemptAt = dueInMs > 0 ? new Date(dueAtMs).toISOString() : null
    const postponed = next.postponed > 0 && { postponed: next.postponed }
    const continued = { ...rest, slot, attempt: attemptsAfter(delivery, attempt), token: next.token, ...postponed }
    const held = heldMessageOf({ delivery: continued, dueAtMs })
    const { kind } = await ledgers.write(delivery, attempt, { state: 'held', slot, nextAttemptAt }, { next, held })
    // After the ledger: a reader removes an entry whose message the ledger does not name.
    if (kind === 'already') return { kind }
    const visitAfterMs = (isFirst: boolean): number => (isFirst ? firstVisitMs(visitInMs) : visitInMs)
    const excess = await heldList.add(continued, { dueAtMs, isKnown: false, visitInMs: visitAfterMs })
    await verified()
    return { kind, excess }
  }

  /** Stores the delivery with its body, lists it under its subscription, and settles the slot. Can be repeated. */
  async function park(
    delivery: Delivery,
    attempt: Attempt | null,
    parkedReason: ParkedReason,
    parkedCause?: ParkedCause,
  ): Promise<SettleResult> {
    // List it first: a crash in between leaves an entry that readers skip, not a parked delivery that is never listed.
    const added = await parkedList.add({ ...delivery, attempt: attemptsAfter(delivery, attempt) })
    const { parkedAt } = added
    const outcome = { state: 'parked', parkedReason, parkedAt, ...(parkedCause && { parkedCause }) } as const
    const { kind, found } = await ledgers.write(delivery, attempt, outcome, { body: delivery.body })
    const isParked = kind === 'written' || (found?.state === 'parked' && found.run === delivery.run)
    if (!isParked) await parkedList.remove(delivery)
    await parkedList.cut(delivery, added)
    await verified()
    return { kind }
  }

  return {
    isSettled: ledgers.isSettled,
    park,
    /**
     * Records the result of the slot, unless the message is settled already. Can be repeated. An acknowledgement always counts,
     * even if another worker parked the same run meanwhile.
     * @param delivery as it was consumed: `attempt` does not count its own POST
     * @param attempt null if no POST was made
     */
    async settle(delivery: Delivery, attempt: Attempt | null, settlement: Settlement): Promise<SettleResult> {
      if (settlement.state === 'parked') return await park(delivery, attempt, settlement.reason, settlement.cause)
      if (settlement.state === 'held') return await hold(delivery, attempt, settlement)
      const { next, ...outcome } = { next: undefined, ...settlement }
      const { kind, found } = await ledgers.write(delivery, attempt, outcome, { next })
      if (kind === 'written' && found?.state === 'parked') await parkedList.remove(delivery)
      return { kind }
    },
    /** Lists a held delivery again, if a worker died before it was listed. For messages that are settled. */
    async listAgain(message: Pick<MessageIdentity, 'deliveryId'> & Endpoint): Promise<readonly HeldExcess[]> {
      const stored = await redis[execute]((commands) => commands.getBuffer(heldMessageKey(message.deliveryId)))
      if (stored === null) return []
      const { dueAtMs, delivery } = parseHeldMessage(stored)
      return await heldList.add(delivery, { dueAtMs, isKnown: true, visitInMs: () => 0 })
    },
  }
}
