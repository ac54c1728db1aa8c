import {
  type Attempt,
  attemptsAfter,
  type Delivery,
  type DeliveryState,
  factsOfState,
  type ParkedCause,
  type ParkedReason,
} from '@switchhook/contracts'

/** The state of a delivery, once its first slot is settled or it was announced. Without what only its messages carry. */
export interface DeliveryRecord
  extends Omit<Delivery, 'postponed' | 'token' | 'traceparent' | 'signing' | 'headers' | 'isAutomatic' | 'body'> {
  /** The next slot; the last one when no slot follows. */
  readonly slot: number
  /** Number of attempts so far, over all runs. */
  readonly attempt: number
  readonly state: DeliveryState
  readonly parkedReason: ParkedReason | null
  readonly parkedCause?: ParkedCause
  /** ISO 8601, UTC, like the other times. */
  readonly parkedAt: string | null
  readonly nextAttemptAt: string | null
  /** Over all runs, in order. Of those that lapsed, only the latest: `attempt` counts all. */
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

/**
 * What the ledger says of a run. A held delivery is `waiting`: its message is in Redis instead of with the broker.
 * `unsent`: a redelivery has begun, but is not known to be published. Readers treat the delivery as still parked.
 */
type LedgerState = Exclude<DeliveryState, 'held'> | 'unsent'

/** The last settled slot of a delivery, for workers. It is the first line of the record (`ledgerLine`). */
export interface Ledger {
  readonly run: number
  /** The last one of the run; -1 for none. */
  readonly settledSlot: number
  readonly state: LedgerState
  /** Attempts so far, over all runs. */
  readonly attempt: number
  /** The message that continues the delivery while it is `waiting`, with the broker or held. */
  readonly next?: Continuation | undefined
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
 * Whether the ledger settles a message: it is then acknowledged without a POST, and its result is not recorded. Each clause is
 * a row, and the first that applies decides. From the second row on, ledger and message are of the same run.
 *
 * | the ledger | is the message settled? |
 * | --- | --- |
 * | is of another run | if that run is the later one |
 * | is acknowledged | yes |
 * | is not, but this message is now | no: an acknowledgement counts whichever duplicate gets it, so that nothing is sent again |
 * | is parked | yes |
 * | counts another number of attempts | if it counts more: of two duplicates, the one with more attempts goes on |
 * | is withdrawn or expired | yes |
 * | names no message of this slot | if it has settled this slot; a ledger that lags behind settles nothing |
 * | names one with another number of postponements | if that is the larger number |
 * | names one with the same number | if it is another one: of two duplicates, the first that was settled has named it |
 *
 * A ledger counts fewer attempts than a message, or lags behind it, if a worker died after its retry was confirmed and before it
 * settled the slot, or if Redis was restored to an older state. The original message then returns without the attempt. It can
 * be withdrawn, expire, or use up slots in a cool-down, and must not settle the retry.
 *
 * @param result what is to be recorded: the state, and the attempts with its own POST. Absent before the POST
 */
export function isSettledBy(
  { run, settledSlot, state, attempt, next }: Ledger,
  message: Omit<MessageIdentity, 'deliveryId'>,
  result?: Pick<View, 'state' | 'attempt'>,
): boolean {
  if (run !== message.run) return run > message.run
  if (state === 'acknowledged') return true
  if (result?.state === 'acknowledged') return false
  if (state === 'parked') return true
  const attempts = result?.attempt ?? message.attempt
  if (attempt !== attempts) return attempt > attempts
  if (state === 'withdrawn' || state === 'expired') return true
  if (next === undefined || settledSlot !== message.slot - 1) return settledSlot >= message.slot
  const { postponed = 0, token } = message
  if (next.postponed !== postponed) return next.postponed > postponed
  return next.token !== token
}

/**
 * The ledger line that a message finds if no duplicate of it was settled. `isSettledBy` is then false.
 *
 * | the message | the line |
 * | --- | --- |
 * | has a token: it continues a delivery | names it |
 * | is the first of a delivery whose record is written before it is published: a redelivery, a test, or one that was requested | `pending` |
 * | is the first of any other delivery | is '': there is no record |
 */
export function lineBefore(message: MessageIdentity & Pick<Delivery, 'trial' | 'isRequested'>): string {
  const { run, slot, attempt, postponed = 0, token } = message
  if (token !== undefined)
    return ledgerLine({ run, settledSlot: slot - 1, state: 'waiting', attempt, next: { token, postponed } })
  const isAnnounced = run > 1 || message.trial !== undefined || message.isRequested === true
  return isAnnounced ? ledgerLine({ run, settledSlot: -1, state: 'pending', attempt }) : ''
}

/** Longer than any ledger line, so that `parseLedger` needs no more of a record. */
export const LEDGER_BYTES = 96

/** `<run> <slot> <state> <attempts>`, and of the message that continues it, `<token> <times that it was postponed>`. */
export const ledgerLine = ({ run, settledSlot, state, attempt, next }: Ledger): string =>
  `${run} ${settledSlot} ${state} ${attempt}${next === undefined ? '' : ` ${next.token} ${next.postponed}`}`

const LEDGER = /^(\d+) (-?\d+) ([a-z]+) (\d+)(?: ([\w-]+) (\d+))?(?:\n|$)/

/** Parses the first line of a record, as prelude.lua does. The rest may be cut off. */
export function parseLedger(stored: string): Ledger | undefined {
  const [, run, settledSlot, state, attempt, token, postponed] = LEDGER.exec(stored) ?? []
  if (run === undefined) return undefined
  return {
    run: Number(run),
    settledSlot: Number(settledSlot),
    state: state as LedgerState,
    attempt: Number(attempt),
    ...(token !== undefined && { next: { token, postponed: Number(postponed) } }),
  }
}

/** A complete record, in the format of settle-delivery.lua. */
export const recordText = (ledger: Ledger, view: View, attempts: readonly Attempt[] = []): string =>
  [ledgerLine(ledger), viewJson(view), ...attempts.map(attemptLine)].join('\n')

/** One line. That of a lapse begins with a space, so that the script can tell it apart. */
export const attemptLine = (attempt: Attempt): string =>
  `${attempt.outcome === 'lapsed' ? ' ' : ''}${JSON.stringify(attempt)}`

export function parseRecord(stored: string) {
  const ledger = parseLedger(stored)
  const [, json = '', ...attempts] = stored.split('\n')
  if (ledger === undefined) return undefined
  const view: View = { ...(JSON.parse(json) as StoredView), attempt: ledger.attempt }
  return {
    ledger,
    view,
    attempts: attempts.map((line) => JSON.parse(line) as Attempt).toSorted((a, b) => a.attempt - b.attempt),
  }
}

/** The ledger counts the attempts. */
type StoredView = Omit<View, 'attempt'>

/** Writes the fields of a view. `record` may have more fields. */
export function viewJson(record: View): string {
  // An object of exactly these fields: JSON.stringify with a list of fields takes more than twice the time.
  const view: { readonly [Field in keyof StoredView]-?: StoredView[Field] | undefined } = {
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
    parkedCause: record.parkedCause,
    parkedAt: record.parkedAt,
    nextAttemptAt: record.nextAttemptAt,
    trial: record.trial,
    isRequested: record.isRequested,
    isSparse: record.isSparse,
  }
  return JSON.stringify(view)
}

/** The ledger of a view. While the delivery goes on, the view names its next slot, and the ledger the one before. */
export function ledgerOf({ run, slot, state, attempt }: View, next?: Continuation): Ledger {
  const isOver = factsOfState(state).next === 'none'
  return { run, settledSlot: isOver ? slot : slot - 1, state: state === 'held' ? 'waiting' : state, attempt, next }
}

/** The view of a delivery after one of its slots ended in `outcome.state`. */
export function viewOf(
  delivery: Delivery,
  attempt: Attempt | null,
  outcome: Pick<View, 'state'> &
    Partial<Pick<View, 'slot' | 'nextAttemptAt' | 'parkedReason' | 'parkedCause' | 'parkedAt'>>,
): View {
  const nothing = { parkedReason: null, parkedAt: null, nextAttemptAt: null }
  return { ...delivery, ...nothing, attempt: attemptsAfter(delivery, attempt), ...outcome }
}
