import type { Attempt, Delivery, DeliveryId, EventId, ParkedReason, SubscriptionId, Trial } from '@switchhook/contracts'

export type DeliveryState = 'pending' | 'waiting' | 'acknowledged' | 'parked' | 'withdrawn'

/** What is remembered of a delivery once its first slot is settled. */
export interface DeliveryRecord {
  readonly deliveryId: DeliveryId
  readonly subscriptionId: SubscriptionId
  readonly eventId: EventId
  readonly eventType: string
  readonly tenant: string | null
  readonly url: string
  readonly run: number
  /** The place in the schedule that comes next; the last one when none does. */
  readonly slot: number
  /** POSTs made so far, over all runs. */
  readonly attempt: number
  /** ISO 8601, UTC, as are the other times. */
  readonly firstDueAt: string
  readonly state: DeliveryState
  readonly parkedReason: ParkedReason | null
  readonly parkedAt: string | null
  readonly nextAttemptAt: string | null
  /** So that a parked test that is sent again is still a test; absent: of an event that has happened. */
  readonly trial?: Trial
  /** Of all runs, in their order. */
  readonly attempts: readonly Attempt[]
  /** Kept from when a delivery is first parked; null for others. */
  readonly body: Buffer | null
}

/**
 * A record is one string: a line for the scripts (the ledger), a line of JSON for people (the view), a line of JSON for
 * each attempt. One small value per delivery costs a fraction of a hash, and a script need not understand JSON.
 */
export interface StoredRecord {
  readonly ledger: Ledger
  readonly view: View
  readonly attempts: readonly Attempt[]
}

/** How far a delivery has come. */
export interface Ledger {
  readonly run: number
  /** The last slot of the run that is settled; -1 for none. */
  readonly slot: number
  /** `unsent`: a new run was begun, but nobody knows yet whether it was published. To everybody else it is still parked. */
  readonly state: DeliveryState | 'unsent'
}

type View = Omit<DeliveryRecord, 'deliveryId' | 'attempts' | 'body'>

const OVER: readonly Ledger['state'][] = ['acknowledged', 'parked', 'withdrawn']

/**
 * Whether a record settles a message, as far as the ledger says. `isOlderThan` has the exception. settle-delivery.lua has
 * the same rules.
 */
export function isSettledBy(
  { run, slot, state }: Ledger,
  message: { readonly run: number; readonly slot: number },
): boolean {
  if (run !== message.run) return run > message.run
  return OVER.includes(state) || slot >= message.slot
}

/**
 * A record without an attempt never settles a copy of the message that has made one, unless the run was acknowledged or
 * parked. A worker that dies after its retry was confirmed leaves two copies: the retry, and the message that comes back
 * as if it had never been sent. If the latter is withdrawn or uses up slots in a cool-down, the retry keeps its schedule.
 */
export const isOlderThan = (
  { ledger, view }: Pick<StoredRecord, 'ledger' | 'view'>,
  message: { readonly run: number; readonly attempt: number },
): boolean =>
  ledger.run === message.run &&
  view.attempt === 0 &&
  message.attempt > 0 &&
  ledger.state !== 'acknowledged' &&
  ledger.state !== 'parked'

/** Reads the beginning of a record, which may have been cut off after the first line. */
export function parseLedger(stored: string): Ledger | undefined {
  const [, run, slot, state] = /^(\d+) (-?\d+) ([a-z]+)/.exec(stored) ?? []
  if (run === undefined) return undefined
  return { run: Number(run), slot: Number(slot), state: state as Ledger['state'] }
}

/** A whole record of one attempt, as settle-delivery.lua writes it. */
export const firstRecord = ({ run, slot, state }: Ledger, view: View, attempt: Attempt): string =>
  `${run} ${slot} ${state}\n${viewJson(view)}\n${JSON.stringify(attempt)}`

/** A whole record of a delivery that nobody has attempted. */
export const announcedRecord = ({ run }: Pick<Ledger, 'run'>, view: View): string =>
  `${run} -1 pending\n${viewJson(view)}`

export function parseRecord(stored: string): StoredRecord | undefined {
  const ledger = parseLedger(stored)
  const [, view = '', ...attempts] = stored.split('\n')
  if (ledger === undefined) return undefined
  return {
    ledger,
    view: JSON.parse(view) as View,
    attempts: attempts.map((line) => JSON.parse(line) as Attempt).toSorted((a, b) => a.attempt - b.attempt),
  }
}

/** Only what belongs to a view, in one order: what is passed may have more. */
export function viewJson(record: View): string {
  return JSON.stringify(record, VIEW_FIELDS)
}

const VIEW_FIELDS = [
  'subscriptionId',
  'eventId',
  'eventType',
  'tenant',
  'url',
  'run',
  'slot',
  'attempt',
  'firstDueAt',
  'state',
  'parkedReason',
  'parkedAt',
  'nextAttemptAt',
  'trial',
] satisfies (keyof View)[]

/** What a delivery looks like once one of its slots has come to `state`. */
export function viewOf(
  delivery: Delivery,
  attempt: Attempt | null,
  outcome: Pick<View, 'state'> & Partial<Pick<View, 'slot' | 'nextAttemptAt' | 'parkedReason' | 'parkedAt'>>,
): View {
  const nothing = { parkedReason: null, parkedAt: null, nextAttemptAt: null }
  return { ...delivery, ...nothing, attempt: attempt?.attempt ?? delivery.attempt, ...outcome }
}
