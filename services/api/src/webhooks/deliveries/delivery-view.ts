import type { Attempt, Envelope } from '@switchhook/contracts'
import type { DeliveryRecord, ListedDelivery } from '@switchhook/store'

/** A delivery as lists show it. */
export function summaryOf(record: ListedDelivery) {
  const { deliveryId, subscriptionId, eventId, eventType, url, state, parkedReason, parkedAt, nextAttemptAt, run } =
    record
  return {
    deliveryId,
    subscriptionId,
    eventId,
    eventType,
    // null: of a pull subscription, or unknown because the subscription was deleted before the first attempt was finished.
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

/** One delivery in full, with its envelope. The envelope is stored when the delivery is first parked, and null before. */
export function viewOf(record: DeliveryRecord) {
  const envelope = record.body === null ? null : (JSON.parse(record.body.toString()) as Envelope)
  const envelopeDropped = envelope === null && record.state === 'parked'
  return { ...summaryOf(record), envelope, envelopeDropped }
}

export type DeliveryView = ReturnType<typeof viewOf>
