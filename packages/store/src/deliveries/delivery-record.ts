import type { Attempt, Delivery, ParkedReason } from '@switchhook/contracts'

/** `held`: it is due, and is kept in Redis because its subscription is paused or received. Its ledger says `waiting`. */
export const DELIVERY_STATES = ['pending', 'waiting', 'held', 'acknowledged', 'parked', 'withdrawn', 'expired'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The state of a delivery, once its first slot is settled or it was announced. Without what only its messages carry. */
export interface DeliveryRecord
  extends Omit<Delivery, 'postponed' | 'token' | 'traceparent' | 'signing' | 'headers' | 'isAutomatic' | 'body'> {
  /** The next slot; the last one when no slot follows. */
  readonly slot: number
  /** Number of attempts so far, over all runs. */
  readonly attempt: number
  readonly state: DeliveryState
  readonly parkedReason: ParkedReason | null
  /** ISO 8601, UTC, like the other times. */
  readonly parkedAt: string | null
  readonly nextAttemptAt: string | null
  /** Over all runs, in order. */
  readonly attempts: readonly Attempt[]
  /** Null unless the delivery has been parked. */
  readonly body: Buffer | null
  /** A next run has begun, and is not known to be published. The other fields show the state before. */
  readonly isUnsent?: true
}

/**
 * A record is one string of several lines: the ledger for the scripts, the view for people (JSON), and one line of JSON
 * per attempt. One small string per delivery costs a fraction of a hash, and the scripts need not parse JSON.
 */
export type StoredRecord = NonNullable<ReturnType<typeof parseRecord>>

/** The last settled slot of a delivery, and the state that followed. */
export interface Ledger {
  readonly run: number
  /** The last settled slot of the run; -1 for none. */
  readonly slot: number
  /** `unsent`: a redelivery has begun, but is not known to be published. Readers treat the delivery as still parked. */
  readonly state: DeliveryState | 'unsent'
  /** The message that continues the delivery while it is `waiting`, with the broker or held. Absent in a record of an earlier version. */
  readonly next?: Continuation
  /** Attempts so far, over all runs. Absent in a record of an earlier version. */
  readonly attempt?: number
}

/** The message, stored by the broker or held, that continues a delivery. Its slot is the one after the last settled. */
export interface Continuation {
  readonly token: string
  /** How often its slot has been postponed. */
  readonly postponed: number
}

type View = Omit<DeliveryRecord, 'deliveryId' | 'attempts' | 'body' | 'isUnsent'>

/** Tells a message from the other messages of its delivery. */
export type MessageIdentity = Pick<Delivery, 'deliveryId' | 'run' | 'slot' | 'attempt' | 'postponed' | 'token'>

/**
 * Whether the ledger settles a message, so that it is acknowledged without a POST. settle-delivery.lua has the same rules.
 *
 * Of the copies of one message, the ledger names the continuation of the first that was settled, and settles all others. A
 * ledger that lags behind settles nothing: a worker has died before it settled the slot, or Redis was restored to an older
 * state. A ledger without a token is of an earlier version, and so is a message, except the first of a run: it is told apart
 * by its slot alone.
 *
 * A copy with an attempt is settled only by a ledger with one. A worker that dies after its retry was confirmed leaves two
 * copies: the retry, and the original message, which returns as if no attempt had been made. If the original is withdrawn,
 * expires, or uses up slots in a cool-down, the retry still keeps its schedule.
 */
export function isSettledBy(
  { run, slot, state, next, attempt }: Ledger,
  message: Omit<MessageIdentity, 'deliveryId'>,
): boolean {
  if (run !== message.run) return run > message.run
  if (state === 'acknowledged' || state === 'parked') return true
  const isFirstWithAttempt = message.attempt > 0 && (attempt === 0 || state === 'withdrawn')
  if (isFirstWithAttempt) return false
  if (state === 'withdrawn' || state === 'expired') return true
  if (slot !== message.slot - 1) return slot >= message.slot
  const { postponed = 0, token } = message
  if (next === undefined || next.postponed !== postponed) return next !== undefined && next.postponed > postponed
  return (token !== undefined || message.slot === 0) && token !== next.token
}

/** Longer than any ledger, so that reading this many bytes of a record is enough for `parseLedger`. */
export const LEDGER_BYTES = 112

const LEDGER = /^(\d+) (-?\d+) ([a-z]+)(?:\n\{(?:"next":\{"token":"([\w-]+)","postponed":(\d+)\},)?"attempt":(\d+),)?/

/** Parses the first line of a record and the first fields of its view. The rest may be cut off. */
export function parseLedger(stored: string): Ledger | undefined {
  const [, run, slot, state, token, postponed, attempt] = LEDGER.exec(stored) ?? []
  if (run === undefined) return undefined
  return {
    run: Number(run),
    slot: Number(slot),
    state: state as Ledger['state'],
    ...(token !== undefined && state === 'waiting' && { next: { token, postponed: Number(postponed) } }),
    ...(attempt !== undefined && { attempt: Number(attempt) }),
  }
}

/** A complete record, in the format of settle-delivery.lua. */
export const recordText = ({ run, slot, state }: Ledger, view: View, attempts: readonly Attempt[] = []): string =>
  [`${run} ${slot} ${state}`, viewJson(view), ...attempts.map((attempt) => JSON.stringify(attempt))].join('\n')

export function parseRecord(stored: string) {
  const ledger = parseLedger(stored)
  const [, json = '', ...attempts] = stored.split('\n')
  if (ledger === undefined) return undefined
  const { next: _, ...view } = JSON.parse(json) as View & Pick<Ledger, 'next'>
  return {
    ledger,
    view,
    attempts: attempts.map((line) => JSON.parse(line) as Attempt).toSorted((a, b) => a.attempt - b.attempt),
  }
}

/**
 * Writes the fields of a view in a fixed order. `record` may have more fields. The ledger's fields come first, because
 * `parseLedger` reads only the beginning; the ledger line itself has the format that earlier versions read.
 */
export function viewJson(record: View, next?: Continuation): string {
  // An object of exactly these fields: JSON.stringify with a list of fields takes more than twice the time.
  const view: { readonly [Field in keyof View]-?: View[Field] | undefined } & Pick<Ledger, 'next'> = {
    ...(next !== undefined && { next: { token: next.token, postponed: next.postponed } }),
    attempt: record.attempt,
    subscriptionId: record.subscriptionId,
    eventId: record.eventId,
    eventType: record.eventType,
    tenant: record.tenant,
    url: record.url,
    run: record.run,
    slot: record.slot,
    firstDueAt: record.firstDueAt,
    state: record.state,
    parkedReason: record.parkedReason,
    parkedAt: record.parkedAt,
    nextAttemptAt: record.nextAttemptAt,
    trial: record.trial,
    isRequested: record.isRequested,
    isSparse: record.isSparse,
  }
  return JSON.stringify(view)
}

/** The view of a delivery after one of its slots ended in `outcome.state`. */
export function viewOf(
  delivery: Delivery,
  attempt: Attempt | null,
  outcome: Pick<View, 'state'> & Partial<Pick<View, 'slot' | 'nextAttemptAt' | 'parkedReason' | 'parkedAt'>>,
): View {
  const nothing = { parkedReason: null, parkedAt: null, nextAttemptAt: null }
  return { ...delivery, ...nothing, attempt: attempt?.attempt ?? delivery.attempt, ...outcome }
}
