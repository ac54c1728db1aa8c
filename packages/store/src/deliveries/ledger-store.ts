import { type Attempt, type Delivery, type DeliveryState, factsOfState, type ScheduleOf } from '@switchhook/contracts'
import { oncePerTick } from '@switchhook/runtime'
import { bodyKey, heldMessageKey, ledgerKey, recordKey } from '../keys.ts'
import { execute, pipeline, type Redis, runScript, stringsPerTick } from '../redis/redis.ts'
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
import type { Keep } from './kept-counts.ts'
import { extraUnitsOf } from './tenant-sizes.ts'

/** `already`: the ledger settles the message, by a duplicate or by an earlier call whose reply was lost. */
interface Written {
  readonly kind: 'written' | 'already'
  /** The ledger that was replaced, or that settles the message. */
  readonly found: Ledger | undefined
}

/** @throws if the text is neither empty nor a ledger */
function ledgerIn(stored: string, key: string): Ledger | undefined {
  const ledger = parseLedger(stored)
  if (ledger === undefined && stored !== '') throw new Error(`${key} holds no record of a delivery`)
  return ledger
}

/** The ledgers of deliveries, as the worker reads and writes them. They make repeated messages harmless. */
export function createLedgerStore(redis: Redis, retention: DeliveryRetention) {
  const { keep = () => true } = retention
  const lifetimes = createLifetimes(retention)

  /** One command for each key, so that a primary of a cluster that is away fails its own deliveries only. */
  const readOne = (key: string): Promise<string> =>
    redis[execute]((commands) => commands.getrange(key, 0, LEDGER_BYTES - 1))

  /** For first messages of first runs, most of which have no record: it reads whole records, which can be large. */
  const readFirst = stringsPerTick(redis, readOne)

  interface FirstRecord {
    readonly key: string
    readonly record: string
    readonly keptMs: number
  }
  /** Resolves to whether the record was written. Each has its own command, for the same reason. */
  const writeOne = async ({ key, record, keptMs }: FirstRecord): Promise<boolean> =>
    (await redis[execute]((commands) => commands.set(key, record, 'PX', keptMs, 'NX'))) !== null

  /**
   * The common case, a first attempt that succeeds, at half the cost of the script: writes the record if none exists. The
   * records of an iteration of the event loop share a call, except in a cluster: each answer arrives in a tick of its own.
   * Resolves to whether the record was written.
   */
  const writeFirst = oncePerTick<FirstRecord, boolean>(async (records) => {
    if (records.length === 1 || !redis.mayMixTags()) return records.map(writeOne)
    const parts = records.map(({ key, record, keptMs }) => ({ keys: [key], args: [keptMs, record] }))
    const replies = await redis[execute]((commands) => commands.runParts('deliveries/write-first-records', parts))
    const present = new Set(replies.flat())
    return records.map(({ key }) => !present.has(key))
  }, setImmediate)

  /**
   * Compares and sets: the script writes if the ledger line is the expected one, which in the usual case is the line that
   * names the message. Otherwise `isSettledBy` decides about the line that it found.
   * @param attempt null if no POST was made
   */
  async function write(
    delivery: Delivery,
    attempt: Attempt | null,
    outcome: Parameters<typeof viewOf>[2],
    { next, body, held }: { next?: Continuation | undefined; body?: Buffer; held?: Buffer },
  ): Promise<Written> {
    const { deliveryId } = delivery
    const view = viewOf(delivery, attempt, outcome)
    const ledger = ledgerOf(view, next)
    let expected = lineBefore(delivery)
    const recordMs = lifetimes.recordMs(delivery, view.state)
    const isFirst = view.state === 'acknowledged' && attempt !== null && expected === ''
    if (isFirst && lifetimes.ledgerMs(delivery, false) === 0) {
      const first = { key: recordKey(deliveryId), record: recordText(ledger, view, [attempt]), keptMs: recordMs }
      if (await writeFirst(first)) return { kind: 'written', found: undefined }
    }
    const keys = [recordKey(deliveryId), bodyKey(deliveryId), ledgerKey(deliveryId), heldMessageKey(deliveryId)]
    const line = attempt === null ? '' : attemptLine(attempt)
    for (;;) {
      const ledgerMs = ledger.state === 'waiting' ? 0 : ledgerMsOf(delivery, expected !== '')
      const args = [expected, ledgerLine(ledger), viewJson(view), line, recordMs, ledgerMs, body ?? '', held ?? '']
      const present = await runScript(redis, 'deliveries/settle-delivery', keys, args)
      if (present === null) return { kind: 'written', found: parseLedger(expected) }
      const found = ledgerIn(present, recordKey(deliveryId))
      if (found && isSettledBy(found, delivery, view)) return { kind: 'already', found }
      expected = present
    }
  }

  /** 0 also at the limit of the tenant: a duplicate that arrives after the record has expired is then attempted. */
  function ledgerMsOf(delivery: Delivery, hasRecord: boolean): number {
    const ledgerMs = lifetimes.ledgerMs(delivery, hasRecord)
    return ledgerMs === 0 || keep(delivery.tenant, 'ledgers', ledgerMs) ? ledgerMs : 0
  }

  /** The beginning of the record, or the ledger line where it has expired. */
  async function readStored(message: MessageIdentity): Promise<string> {
    const key = recordKey(message.deliveryId)
    const isFirst = message.token === undefined && lifetimes.ledgerMs(message, false) === 0
    if (isFirst) return (await (message.run === 1 ? readFirst : readOne)(key)) ?? ''
    const [record, line] = await pipeline(redis, (commands) => [
      commands.getrange(key, 0, LEDGER_BYTES - 1),
      commands.get(ledgerKey(message.deliveryId)),
    ])
    return record || (line ?? '')
  }

  return {
    write,
    /** Whether the ledger settles this message (`isSettledBy`). It is then acknowledged without a POST. */
    isSettled: async (message: MessageIdentity): Promise<boolean> => {
      const stored = await readStored(message)
      // It fails now, because otherwise the worker would POST first and then fail to settle.
      const ledger = ledgerIn(stored, recordKey(message.deliveryId))
      return ledger !== undefined && isSettledBy(ledger, message)
    },
  }
}

/** How long a record is kept after its last change. */
export interface DeliveryRetention {
  /** Acknowledged, withdrawn and expired deliveries. */
  readonly finishedRetentionMs: number
  readonly parkedRetentionMs: number
  /** A waiting delivery is kept for longer than its schedule takes. */
  readonly scheduleOf: ScheduleOf
  /** Absent: a tenant has no limit. */
  readonly keep?: Keep
}

/** Time beyond the schedule, for an outage in which a waiting delivery cannot be consumed. */
const OUTAGE_SLACK_MS = 7 * 86_400_000
/** How long after its wait a duplicate may still arrive, because the broker or the workers were away. */
const DUPLICATE_SLACK_MS = 3_600_000
/** How long every record is kept at least: for the redelivery of a message that was not acknowledged, and for readers. */
export const SHORT_MS = 60_000

/**
 * What of a delivery expires when. Body and held message expire with the record.
 *
 * | what | kept after its last write |
 * | --- | --- |
 * | record, `waiting` | all waits of its schedule, and 7 days |
 * | record, `parked` or `held` | `parkedRetentionMs`; from the release by a limit, `finishedRetentionMs` |
 * | record, other states | `finishedRetentionMs`; at the limit of the tenant, twice the first wait, at least a minute |
 * | ledger of a run that ended, apart from the record | the longest wait of a duplicate, and an hour; 0 if the record certainly lasts longer |
 */
export function createLifetimes(retention: DeliveryRetention) {
  const { finishedRetentionMs, parkedRetentionMs, scheduleOf, keep = () => true } = retention
  const leastKeptMs = Math.min(finishedRetentionMs, parkedRetentionMs)

  /** How long any record of an ended run lasts: until no duplicate of a first message waits, if the first wait is not very long. */
  function shortestMs(message: Pick<MessageIdentity, 'deliveryId'>): number {
    const { waitsMs, cooldownMs } = scheduleOf(message)
    const twiceMs = 2 * Math.max(cooldownMs, waitsMs[0] ?? 0)
    return Math.min(leastKeptMs, twiceMs > leastKeptMs ? SHORT_MS : Math.max(SHORT_MS, twiceMs))
  }

  /** How long the record of a finished delivery is kept, which the limit of its tenant counts with each call. */
  const finishedMs = (delivery: Pick<Delivery, 'tenant' | 'deliveryId'>, units = 1): number =>
    keep(delivery.tenant, 'settled', finishedRetentionMs, units) ? finishedRetentionMs : shortestMs(delivery)

  return {
    shortestMs,
    finishedMs,
    /** Counts a finished one, as `finishedMs` does. */
    recordMs(delivery: Delivery, state: DeliveryState): number {
      const { kept } = factsOfState(state)
      if (kept === 'schedule')
        return scheduleOf(delivery).waitsMs.reduce((sum, waitMs) => sum + waitMs, OUTAGE_SLACK_MS)
      return kept === 'parked' ? parkedRetentionMs : finishedMs(delivery, unitsOf(delivery))
    },
    /** @param hasRecord false: duplicates of a first message wait for its first retry at most */
    ledgerMs(message: MessageIdentity, hasRecord: boolean): number {
      const { waitsMs, cooldownMs } = scheduleOf(message)
      const hasFirstDuplicatesOnly = !hasRecord && message.run === 1 && message.slot === 0
      // A slot is postponed by a cool-down first, later by any wait.
      const waitMs = Math.max(cooldownMs, ...(hasFirstDuplicatesOnly ? waitsMs.slice(0, 1) : waitsMs))
      return waitMs > shortestMs(message) / 2 ? waitMs + DUPLICATE_SLACK_MS : 0
    },
  }
}

const NO_BODY = Buffer.alloc(0)

/** Of the record of a finished delivery. It has a body only if the delivery was parked before. */
const unitsOf = ({ run, body, attempt }: Delivery): number =>
  1 + extraUnitsOf({ body: run > 1 ? body : NO_BODY, attempt })
