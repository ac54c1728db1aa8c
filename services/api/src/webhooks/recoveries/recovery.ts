import type { DeliveryId, RecoveryId, SubscriptionId } from '@switchhook/contracts'
import type { JournalId } from '@switchhook/store'
import { described } from '../../http/schema.ts'
import { firstPace, type Pace } from './pace.ts'
import { type RecoveryView, recoverySchema } from './recovery-schema.ts'

/** The parked deliveries that the client selected; of a backfill, the events of the journal. Times are in UTC. */
export type Selection = Pick<RecoveryView, 'from' | 'to' | 'reason' | 'eventTypes'>

/** A delivery that a recovery sends. */
export interface Item {
  readonly deliveryId: DeliveryId
  /** The run that was parked; 0 in a backfill. */
  readonly run: number
  /** The place of its event. Present in a backfill. */
  readonly journalId?: JournalId
}

/** A recovery as it is stored: everything that a replica needs to continue it. `recoverySchema` describes the other fields. */
export interface Recovery
  extends Omit<RecoveryView, keyof Selection | 'state' | 'remaining' | 'parkedSince' | 'perSecond'> {
  readonly recoveryId: RecoveryId
  readonly subscriptionId: SubscriptionId
  readonly selection: Selection
  readonly state: Exclude<RecoveryView['state'], 'paused'>
  /** The cursor: every item of the list until then was taken. In µs since 1970. */
  readonly after: string
  /** The end of the list: deliveries that were parked later are not touched. In µs since 1970. */
  readonly until: string
  /** When the newest parked delivery of the subscription was parked at the beginning, in µs; '0': none. */
  readonly parkedUntil: string
  /** The list was read to `until`. */
  readonly isReadOut: boolean
  /** Items that were taken and are not known to be sent. The next step sends these first. */
  readonly batch: readonly Item[]
  /** A replica is sending a batch, or has died while sending it. */
  readonly isSending: boolean
  readonly pace: Pace
  /** One of the deliveries that were sent last. While it has no result for long, the recovery pauses. */
  readonly sample: (Item & { readonly sentAtMs: number }) | null
  /** The number of the step. A timer and a result are valid for one step only. */
  readonly step: number
  /** When a delivery was last sent, skipped or failed, or the recovery began: ISO 8601, UTC. */
  readonly progressedAt: string
}

/** @param parkedSince the number of deliveries of the subscription that were parked since the recovery began and still are */
export function viewOf(recovery: Recovery, parkedSince: number) {
  const { state, waitingFor, selection, found, sent, skipped, failed, pace } = recovery
  const isSending = state === 'running' && waitingFor === null
  return described(recoverySchema, {
    ...recovery,
    ...selection,
    state: state === 'running' && !isSending ? 'paused' : state,
    remaining: Math.max(0, found - sent - skipped - failed),
    parkedSince,
    perSecond: isSending ? pace.perSecond : 0,
  })
}

export interface RecoveryChange {
  readonly before: Recovery
  readonly after: Recovery
}

/** What a client or a setting asks for. */
export type RecoveryRequested = Pick<
  Recovery,
  'recoveryId' | 'subscriptionId' | 'kind' | 'startedBy' | 'selection' | 'maxPerSecond'
>

/**
 * The result of one item of a step. `skipped`: another sender has sent it, or it is no longer parked. `not-sent`: the broker
 * accepts no messages now.
 */
export type ItemResult = 'sent' | 'skipped' | 'failed' | 'not-sent'

const BROKER_CHECK_MS = 2_000

export function newRecovery(
  fixed: RecoveryRequested & Pick<Recovery, 'found' | 'failed' | 'after' | 'until' | 'parkedUntil'>,
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
    batch: [],
    isSending: false,
    pace: firstPace(nowMs),
    sample: null,
    step: 1,
    startedAt: now,
    updatedAt: now,
    progressedAt: now,
    endedAt: null,
  }
}

/**
 * The selected range of the list, up to its current end.
 * @param newest when the newest entry of the list was parked or journaled, in µs
 */
export function rangeOf({ from, to }: Selection, newest: string): Pick<Recovery, 'after' | 'until'> {
  // Clients see the time of parking in ms, and the list has it in µs: a window includes the first µs of its ms.
  const after = from === null ? 0 : Math.max(0, Date.parse(from) * 1_000 - 1)
  const until = to === null ? Number.POSITIVE_INFINITY : Date.parse(to) * 1_000 - 1
  return { after: String(after), until: String(Math.min(until, Number(newest))) }
}

/** The recovery in its next step. A timer or result of an earlier one is ignored from then on. */
export const nextStep = (recovery: Recovery, nowMs: number): Recovery => ({
  ...recovery,
  isSending: false,
  step: recovery.step + 1,
  updatedAt: new Date(nowMs).toISOString(),
})

/** Deliveries that were found at the beginning and are neither sent nor failed count as skipped: they left the list otherwise. */
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

/** The recovery with the results of a step, and the time until the next step unless it has ended. */
export function withResults(
  recovery: Recovery,
  results: ReadonlyMap<DeliveryId, ItemResult>,
  { waitMs, nowMs }: { readonly waitMs: number; readonly nowMs: number },
): { readonly recovery: Recovery; readonly dueInMs?: number } {
  const having = (...wanted: (ItemResult | undefined)[]): Item[] =>
    recovery.batch.filter(({ deliveryId }) => wanted.includes(results.get(deliveryId)))
  const [sent, skipped, failed] = [having('sent'), having('skipped'), having('failed')]
  const left = having('not-sent', undefined)
  const isRunning = recovery.state === 'running'
  const isBrokerAway = having('not-sent').length > 0
  const last = sent.at(-1)
  const counted: Recovery = {
    ...nextStep(recovery, nowMs),
    sent: recovery.sent + sent.length,
    skipped: recovery.skipped + skipped.length,
    failed: recovery.failed + failed.length,
    // The rest of a cancelled recovery stays parked.
    batch: isRunning ? left : [],
    sample: recovery.sample ?? (last === undefined ? null : { ...last, sentAtMs: nowMs }),
    waitingFor: isRunning && isBrokerAway ? 'broker' : null,
    ...(isBrokerAway && { pace: firstPace(nowMs + BROKER_CHECK_MS) }),
    ...(left.length < recovery.batch.length && { progressedAt: new Date(nowMs).toISOString() }),
  }
  if (!isRunning) return { recovery: counted }
  if (counted.isReadOut && left.length === 0) return { recovery: done(counted, nowMs) }
  return { recovery: counted, dueInMs: isBrokerAway ? BROKER_CHECK_MS : waitMs }
}
