import type { Attempt, Delivery, ParkedCause, ParkedReason } from '@switchhook/contracts'
import { bodyKey, type Endpoint, heldMessageKey, ledgerKey, recordKey } from '../keys.ts'
import { pipeline, type Redis, run, runScript } from '../redis/redis.ts'
import { oncePerTick, stringsPerTick } from '../redis/shared-reads.ts'
import {
  attemptLine,
  type Continuation,
  isSettledBy,
  LEDGER_BYTES,
  type Ledger,
  ledgerLine,
  ledgerOf,
  lineBefore,
  type MessageIdentity,
  parseLedger,
  recordText,
  viewJson,
  viewOf,
} from './delivery-record.ts'
import { createHeldList, type HeldExcess } from './held-list.ts'
import { createHeldLooks } from './held-looks.ts'
import { heldMessageOf, parseHeldMessage } from './held-message.ts'
import { createLifetimes, type DeliveryRetention } from './lifetimes.ts'
import { createParkedList, type ParkedLimits } from './parked-list.ts'

/** The result of a slot that did not park the delivery. */
export type Settlement =
  | { readonly state: 'acknowledged' | 'withdrawn' | 'expired' }
  /** `next`: the confirmed message that continues the delivery, in the next slot, or in the same one if postponed. */
  | { readonly state: 'waiting'; readonly nextAttemptAt: string; readonly next: Continuation }
  /**
   * `next`: the message that is held in `slot`. It is stored with the ledger. `lookInMs`: a worker looks at the held
   * deliveries of the subscription after this time, in case that they are held no longer; sooner if it is the first of them.
   */
  | {
      readonly state: 'held'
      readonly slot: number
      readonly next: Continuation
      readonly dueInMs: number
      readonly lookInMs: number
    }

/** `already`: nothing was written, because the ledger settles the message: by a copy, or by an earlier call whose reply was lost. */
interface SettleResult {
  readonly kind: 'written' | 'already'
  /** Held deliveries that have to be parked, because this one is held, too. */
  readonly excess?: readonly HeldExcess[]
}

/**
 * The first look at a list comes sooner: since the worker read that the deliveries are held, that may have changed, and the look
 * that followed the change may have found nothing. Later entries need none: while there is one, looks follow each other.
 */
const firstLookMs = (lookInMs: number): number => Math.min(lookInMs, Math.max(1_000, lookInMs / 30))

/** @throws if the text is neither empty nor a ledger */
function ledgerIn(stored: string, key: string): Ledger | undefined {
  const ledger = parseLedger(stored)
  if (ledger === undefined && stored !== '') throw new Error(`${key} holds no record of a delivery`)
  return ledger
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

const UNLIMITED: ParkedLimits = { perSubscription: 1_000_000_000, perTenant: 1_000_000_000, released: () => {} }

/**
 * The ledger, as the worker reads and writes it. It makes repeated messages harmless.
 * @param limits of the parked, and of the held, deliveries
 * @param verify rejects unless this Redis holds the data of the installation. Redis may be emptied during a POST; the record of
 *   a parked delivery would be lost when Redis is restored
 */
export function createDeliveryStore(
  redis: Redis,
  retention: DeliveryRetention,
  limits = UNLIMITED,
  verify: () => Promise<void> = () => Promise.resolve(),
) {
  const parkedList = createParkedList(redis, retention, limits)
  const lifetimes = createLifetimes(retention)
  const heldList = createHeldList(redis, createHeldLooks(redis), retention.parkedRetentionMs, limits)

  /**
   * Compares and sets: the script writes if the ledger line is the expected one, which in the usual case is the line that
   * names the message. Otherwise `isSettledBy` decides about the line that it found.
   * @returns `found`: the ledger that was replaced, or that settles the message
   */
  async function write(
    delivery: Delivery,
    attempt: Attempt | null,
    view: ReturnType<typeof viewOf>,
    { next, body, held }: { next?: Continuation | undefined; body?: Buffer; held?: Buffer },
  ): Promise<SettleResult & { readonly found: Ledger | undefined }> {
    const { deliveryId } = delivery
    const ledger = ledgerOf(view, next)
    const keys = [recordKey(deliveryId), bodyKey(deliveryId), ledgerKey(deliveryId), heldMessageKey(deliveryId)]
    const line = attempt === null ? '' : attemptLine(attempt)
    const made = attempt === null ? delivery.attempt : attempt.attempt - 1
    for (let expected = lineBefore({ ...delivery, attempt: made }); ; ) {
      const ledgerMs = ledger.state === 'waiting' ? 0 : lifetimes.ledgerMs(delivery, expected !== '')
      const keptMs = [lifetimes.recordMs(delivery, view.state), ledgerMs]
      const args = [expected, ledgerLine(ledger), viewJson(view), line, ...keptMs, body ?? '', held ?? '']
      const present = await runScript(redis, 'deliveries/settle-delivery', keys, args)
      if (present === null) return { kind: 'written', found: parseLedger(expected) }
      const found = ledgerIn(present, recordKey(deliveryId))
      if (found && isSettledBy(found, { ...delivery, attempt: view.attempt }, view.state))
        return { kind: 'already', found }
      expected = present
    }
  }

  async function hold(
    delivery: Delivery,
    attempt: Attempt | null,
    { slot, next, dueInMs, lookInMs }: Extract<Settlement, { state: 'held' }>,
  ): Promise<SettleResult> {
    const { postponed: _, ...rest } = delivery
    // Redis' clock decides when it is due.
    const dueAtMs = Math.floor(await redis.nowMs()) + dueInMs
    const nextAttemptAt = dueInMs > 0 ? new Date(dueAtMs).toISOString() : null
    const view = viewOf(delivery, attempt, { state: 'held', slot, nextAttemptAt })
    const postponed = next.postponed > 0 && { postponed: next.postponed }
    const continued = { ...rest, slot, attempt: view.attempt, token: next.token, ...postponed }
    const held = heldMessageOf({ delivery: continued, dueAtMs })
    const { kind } = await write(delivery, attempt, view, { next, held })
    // After the ledger: a reader removes an entry whose message the ledger does not name. A worker that dies in between gets
    // the settled message again, and `listAgain` follows.
    if (kind === 'already') return { kind }
    const lookAfterMs = (isFirst: boolean): number => (isFirst ? firstLookMs(lookInMs) : lookInMs)
    return { kind, excess: await heldList.add(continued, { dueAtMs, isKnown: false, lookInMs: lookAfterMs }) }
  }

  /** Lists a held delivery again, if a worker died before it was listed. For messages that are settled. */
  async function listAgain(message: Pick<MessageIdentity, 'deliveryId'> & Endpoint): Promise<readonly HeldExcess[]> {
    const stored = await redis[run]((commands) => commands.getBuffer(heldMessageKey(message.deliveryId)))
    if (stored === null) return []
    const { dueAtMs, delivery } = parseHeldMessage(stored)
    return await heldList.add(delivery, { dueAtMs, isKnown: true, lookInMs: () => 0 })
  }

  /** One command for each key, so that a primary of a cluster that is away fails its own deliveries only. */
  const readAlone = (key: string): Promise<string> =>
    redis[run]((commands) => commands.getrange(key, 0, LEDGER_BYTES - 1))

  /**
   * The records of first messages of first runs, most of which do not exist, in one read for all deliveries of a tick. It
   * reads whole records, which are large after a run.
   */
  const readFirst = stringsPerTick(redis, readAlone)

  interface FirstRecord {
    readonly key: string
    readonly record: string
  }
  /** Resolves to whether the record was written. Each has its own command, for the same reason. */
  const writeAlone = async ({ key, record }: FirstRecord): Promise<boolean> =>
    (await redis[run]((commands) => commands.set(key, record, 'PX', retention.settledRetentionMs, 'NX'))) !== null

  /**
   * The common case, a first attempt that succeeds, at half the cost of the script: writes the record if none exists. The
   * records of a turn of the event loop share a call, except in a cluster: each answer arrives in a tick of its own. Resolves
   * to whether the record was written.
   */
  const writeFirst = oncePerTick<FirstRecord, boolean>(async (records) => {
    if (records.length === 1 || !redis.mayMixTags()) return records.map(writeAlone)
    const parts = records.map(({ key, record }) => ({ keys: [key], args: [record] }))
    const replies = await redis[run]((commands) =>
      commands.runParts('deliveries/write-first-records', parts, [retention.settledRetentionMs]),
    )
    const present = new Set(replies.flat())
    return records.map(({ key }) => !present.has(key))
  }, setImmediate)

  return {
    listAgain,
    /** Whether the ledger settles this message (`isSettledBy`). It is then acknowledged without a POST. */
    async isSettled(message: MessageIdentity): Promise<boolean> {
      const { deliveryId, run: ofRun, token } = message
      // The record of a late copy may have expired. A first message, the usual case, costs one shared read, or one read of
      // its own in a later run, unless its copies can outlast its record.
      const [record, line] =
        token === undefined && lifetimes.ledgerMs(message, false) === 0
          ? [await (ofRun === 1 ? readFirst : readAlone)(recordKey(deliveryId)), null]
          : await pipeline(redis, (commands) => [
              commands.getrange(recordKey(deliveryId), 0, LEDGER_BYTES - 1),
              commands.get(ledgerKey(deliveryId)),
            ])
      const stored = record || (line ?? '')
      // It fails now, because otherwise the worker would POST first and then fail to settle.
      const ledger = ledgerIn(stored, recordKey(deliveryId))
      return ledger !== undefined && isSettledBy(ledger, message)
    },
    /**
     * Records the result of the slot, unless the message is settled already. Repeating it changes nothing. An
     * acknowledgement always counts, even if another worker parked the same run meanwhile.
     * @param delivery the consumed delivery, with its own POST counted in `attempt`
     * @param attempt null if no POST was made
     */
    async settle(delivery: Delivery, attempt: Attempt | null, settlement: Settlement): Promise<SettleResult> {
      if (settlement.state === 'held') return await hold(delivery, attempt, settlement)
      const { next, ...outcome } = { next: undefined, ...settlement }
      const view = viewOf(delivery, attempt, { ...outcome, slot: delivery.slot + (next?.postponed === 0 ? 1 : 0) })
      const isFirst =
        outcome.state === 'acknowledged' && attempt !== null && lineBefore({ ...delivery, attempt: 0 }) === ''
      if (isFirst && lifetimes.ledgerMs(delivery, false) === 0) {
        const record = recordText(ledgerOf(view), view, [attempt])
        if (await writeFirst({ key: recordKey(delivery.deliveryId), record })) return { kind: 'written' }
      }
      const { kind, found } = await write(delivery, attempt, view, { next })
      if (kind === 'written' && found?.state === 'parked') await parkedList.remove(delivery)
      return { kind }
    },
    /** Stores the delivery with its body, lists it under its subscription, and settles the slot. Can be repeated. */
    async park(
      delivery: Delivery,
      attempt: Attempt | null,
      parkedReason: ParkedReason,
      parkedCause?: ParkedCause,
    ): Promise<SettleResult> {
      // List it first: a crash in between leaves an entry that readers skip, not a parked delivery that is never listed.
      const added = await parkedList.add(delivery)
      const view = viewOf(delivery, attempt, {
        state: 'parked',
        parkedReason,
        parkedAt: added.parkedAt,
        ...(parkedCause && { parkedCause }),
      })
      const { kind, found } = await write(delivery, attempt, view, { body: delivery.body })
      const isParked = kind === 'written' || (found?.state === 'parked' && found.run === delivery.run)
      if (!isParked) await parkedList.remove(delivery)
      await parkedList.cut(delivery, added)
      await verify()
      return { kind }
    },
  }
}
