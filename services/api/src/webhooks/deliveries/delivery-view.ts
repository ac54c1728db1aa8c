import type { Attempt, Envelope } from '@switchhook/contracts'
import type { DeliveryRecord, DeliveryState, ListedDelivery, PendingDelivery } from '@switchhook/store'

/** A delivery as lists show it. */
export interface DeliverySummary {
  readonly deliveryId: string
  readonly subscriptionId: string
  readonly eventId: string
  readonly eventType: string
  /** null: of a pull subscription, or unknown because the subscription was deleted before the first attempt was finished. */
  readonly url: string | null
  readonly state: DeliveryState
  readonly parkedReason: DeliveryRecord['parkedReason']
  readonly parkedAt: string | null
  readonly nextAttemptAt: string | null
  readonly run: number
  readonly test: boolean
  readonly firstDueAt: string
  readonly attempts: readonly Attempt[]
}

/** One delivery in full, with its envelope. The envelope is stored when the delivery is first parked, and null before. */
export interface DeliveryView extends DeliverySummary {
  readonly envelope: Envelope | null
  readonly envelopeDropped: boolean
}

export function summaryOf(record: ListedDelivery): DeliverySummary {
  const { deliveryId, subscriptionId, eventId, eventType, url, state, parkedReason, parkedAt, nextAttemptAt, run } =
    record
  return {
    deliveryId,
    subscriptionId,
    eventId,
    eventType,
    url: url || null,
    state,
    parkedReason,
    parkedAt,
    nextAttemptAt,
    run,
    test: record.trial !== undefined,
    firstDueAt: record.firstDueAt,
    attempts: record.attempts.map(attemptView),
  }
}

export function attemptView({ run, slot, attempt, at, durationMs, outcome, status, answer }: Attempt): Attempt {
  return { run, slot, attempt, at, durationMs, outcome, status, ...(answer !== undefined && { answer }) }
}

export function viewOf(record: DeliveryRecord): DeliveryView {
  const envelope = record.body === null ? null : (JSON.parse(record.body.toString()) as Envelope)
  const envelopeDropped = envelope === null && record.state === 'parked'
  return { ...summaryOf(record), envelope, envelopeDropped }
}

export const pendingViewOf = (
  { deliveryId, subscriptionId, eventId, eventType, firstDueAt }: PendingDelivery,
  url: string | null,
): DeliveryView => ({
  deliveryId,
  subscriptionId,
  eventId,
  eventType,
  url: url || null,
  state: 'pending',
  parkedReason: null,
  parkedAt: null,
  nextAttemptAt: null,
  run: 1,
  // Only deliveries without a record are shown this way, and a test has a record from the start.
  test: false,
  firstDueAt,
  attempts: [],
  envelope: null,
  envelopeDropped: false,
})
