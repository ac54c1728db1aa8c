import type { DeliveryId, ParkedReason, RecoveryId, SubscriptionId } from '@switchhook/contracts'
import type { ParkedRange } from '@switchhook/store'
import { type Conditions, firstPace, type Pace, type Turn, type WaitingFor } from './pace.ts'

/** Which parked deliveries are sent again, as the client named them. */
export interface Selection {
  /** ISO 8601: parked then or later; null: from the first on. */
  readonly from: string | null
  /** Parked before then; null: until the recovery began. */
  readonly to: string | null
  readonly reason: ParkedReason | null
}

export interface Item {
  readonly deliveryId: DeliveryId
  /** The run that was parked. */
  readonly run: number
}

/** The deliveries that are being sent: what is not known to be sent is sent by whoever has the next turn. */
interface InHand {
  readonly items: readonly Item[]
  /** A former turn may have sent some of them. */
  readonly isRepeated: boolean
}

/** A recovery as it is stored: all that whoever takes the next turn has to know. */
export interface Recovery {
  readonly recoveryId: RecoveryId
  readonly subscriptionId: SubscriptionId
  readonly selection: Selection
  /** As the client asked; null: as fast as the installation allows. */
  readonly maxPerSecond: number | null
  readonly state: 'running' | 'done' | 'cancelled'
  readonly waitingFor: WaitingFor | null
  readonly cancelledBecause: 'requested' | 'subscription-deleted' | 'no-progress' | null
  /** Parked ones that were found when it began. */
  readonly found: number
  readonly sent: number
  readonly skipped: number
  readonly failed: number
  /** What was parked until then has been taken in hand, in µs since 1970. */
  readonly after: string
  /** What was parked later is not touched. */
  readonly until: string
  /** When the newest of the whole list was parked as it began, in µs; null: there was none. Absent in those of older versions. */
  readonly newest?: string | null
  /** Nothing is left to be taken in hand. */
  readonly isReadOut: boolean
  readonly inHand: InHand | null
  /** Whoever took the last turn is at it, or has died at it. */
  readonly isSending: boolean
  readonly pace: Pace
  /** One of those that were sent last, by whose fate the pace is set. */
  readonly sample: (Item & { readonly sentAtMs: number }) | null
  /** Counts the turns: a timer and what a turn comes to are good for one of them only. */
  readonly turn: number
  /** ISO 8601, UTC, as are the other times. */
  readonly startedAt: string
  readonly updatedAt: string
  /** When a delivery was last sent, skipped or given up; absent: none was yet. */
  readonly progressedAt?: string
  readonly endedAt: string | null
}

/** What became of the items of one turn. */
export interface Sending {
  readonly sent: readonly Item[]
  /** Somebody else has sent them, or they are over. */
  readonly skipped: readonly Item[]
  readonly failed: readonly Item[]
  /** The broker takes nothing now. */
  readonly isBrokerAway: boolean
}

const BROKER_CHECK_MS = 2_000

export function newRecovery(
  fixed: Pick<
    Recovery,
    'recoveryId' | 'subscriptionId' | 'selection' | 'maxPerSecond' | 'found' | 'failed' | 'after' | 'until' | 'newest'
  >,
  nowMs: number,
): Recovery {
  const now = new Date(nowMs).toISOString()
  return {
    ...fixed,
    state: 'running',
    waitingFor: null,
    cancelledBecause: null,
    sent: 0,
    skipped: 0,
    isReadOut: false,
    inHand: null,
    isSending: false,
    pace: firstPace(nowMs),
    sample: null,
    turn: 1,
    startedAt: now,
    updatedAt: now,
    endedAt: null,
  }
}

/**
 * The part of the list that is selected, no longer than it is now.
 * @param newest when the last one of the list was parked, in µs; null: it is empty
 */
export function rangeOf({ from, to, reason }: Selection, newest: string | null): ParkedRange {
  // What is shown of the time when something was parked is its millisecond, which has a thousand of these.
  const after = from === null ? 0 : Math.max(0, Date.parse(from) * 1_000 - 1)
  const until = to === null ? Number.POSITIVE_INFINITY : Date.parse(to) * 1_000 - 1
  return { after: String(after), until: String(Math.min(until, Number(newest ?? 0))), reason }
}

/**
 * Divides a range where bodies begin: what is older has lost its body and cannot be sent again.
 * @param bodiesUntil the bodies of what was parked up to here, in µs, are gone
 */
export function splitAtBodies(
  range: ParkedRange,
  bodiesUntil: string,
): { readonly whole: ParkedRange; readonly withoutBody: ParkedRange | undefined } {
  if (Number(bodiesUntil) <= Number(range.after)) return { whole: range, withoutBody: undefined }
  const until = String(Math.min(Number(bodiesUntil), Number(range.until)))
  return { whole: { ...range, after: bodiesUntil }, withoutBody: { ...range, until } }
}

/** What was parked after this, in µs, was parked since it began. By the clock of the list, which is not ours. */
export function beginningOf({ newest, startedAt }: Recovery): string {
  if (newest === undefined) return String(Date.parse(startedAt) * 1_000 - 1)
  return newest ?? '0'
}

const touched = (recovery: Recovery, nowMs: number): Recovery => ({
  ...recovery,
  isSending: false,
  turn: recovery.turn + 1,
  updatedAt: new Date(nowMs).toISOString(),
})

/** For how long none of its deliveries has gone any way. */
export const stillMsOf = ({ progressedAt, startedAt }: Recovery, nowMs: number): number =>
  nowMs - Date.parse(progressedAt ?? startedAt)

/** After what `takeTurn` decided, before anything is sent. */
export function withTurn(
  recovery: Recovery,
  { pace, waitingFor }: Pick<Turn, 'pace' | 'waitingFor'>,
  sample: Conditions['sample'],
  nowMs: number,
): Recovery {
  const isSampleOver = sample.kind !== 'unanswered'
  // Whether the broker is back will be seen when something is sent.
  const stillWaitingFor = recovery.waitingFor === 'broker' ? recovery.waitingFor : null
  return {
    ...touched(recovery, nowMs),
    pace,
    waitingFor: waitingFor ?? stillWaitingFor,
    ...(isSampleOver && { sample: null }),
  }
}

/** What was taken from the list, before any of it is sent: whoever comes after a crash sends these first. */
export function withItems(recovery: Recovery, items: readonly Item[], after: string | null): Recovery {
  return {
    ...recovery,
    inHand: items.length === 0 ? null : { items, isRepeated: false },
    after: after ?? recovery.until,
    isReadOut: after === null,
  }
}

export const isComplete = ({ isReadOut, inHand }: Recovery): boolean => isReadOut && inHand === null

/** Whoever was at it has died or has lost its lease: nobody waits for what it has in hand any more. */
export const putDown = (recovery: Recovery, nowMs: number): Recovery => ({ ...touched(recovery, nowMs), inHand: null })

/** Nothing is left. What was found when it began and was neither sent nor failed has gone another way. */
export function done(recovery: Recovery, nowMs: number): Recovery {
  const { found, sent, failed } = recovery
  const skipped = Math.max(recovery.skipped, found - sent - failed)
  return { ...ended(recovery, nowMs), state: 'done', skipped, found: sent + failed + skipped }
}

export function cancelled(recovery: Recovery, because: Recovery['cancelledBecause'], nowMs: number): Recovery {
  return { ...ended(recovery, nowMs), state: 'cancelled', cancelledBecause: because }
}

function ended(recovery: Recovery, nowMs: number): Recovery {
  const now = new Date(nowMs).toISOString()
  return { ...recovery, waitingFor: null, updatedAt: now, endedAt: now }
}

/** Notes what the items of a turn came to, and in how long the next turn comes, unless it has ended. */
export function withSending(
  recovery: Recovery,
  sending: Sending,
  { waitMs, nowMs }: { readonly waitMs: number; readonly nowMs: number },
): { readonly recovery: Recovery; readonly dueInMs?: number } {
  const { sent, skipped, failed, isBrokerAway } = sending
  const over = new Set([...sent, ...skipped, ...failed].map(({ deliveryId }) => deliveryId))
  const left = (recovery.inHand?.items ?? []).filter(({ deliveryId }) => !over.has(deliveryId))
  const isRunning = recovery.state === 'running'
  const last = sent.at(-1)
  const counted: Recovery = {
    ...touched(recovery, nowMs),
    sent: recovery.sent + sent.length,
    skipped: recovery.skipped + skipped.length,
    failed: recovery.failed + failed.length,
    // What is not sent when it is cancelled stays parked.
    inHand: isRunning && left.length > 0 ? { items: left, isRepeated: true } : null,
    sample: recovery.sample ?? (last === undefined ? null : { ...last, sentAtMs: nowMs }),
    waitingFor: isRunning && isBrokerAway ? 'broker' : null,
    ...(isBrokerAway && { pace: firstPace(nowMs) }),
    ...(over.size > 0 && { progressedAt: new Date(nowMs).toISOString() }),
  }
  if (!isRunning) return { recovery: counted }
  if (isComplete(counted)) return { recovery: done(counted, nowMs) }
  return { recovery: counted, dueInMs: isBrokerAway ? BROKER_CHECK_MS : waitMs }
}
