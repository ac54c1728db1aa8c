import {
  type Attempt,
  type Delivery,
  deliveryIdOf,
  envelopesOf,
  newEventId,
  parseSubscriptionId,
} from '@switchhook/contracts'
import { createDeliveryLog, createJournal, type LoggedEvent, type Redis, type Settlement } from '@switchhook/store'

const HOUR_MS = 3_600_000

/** A new delivery of a `call.status` event of the tenant `acme`, due now. */
export function newDelivery(subscription: string, change: Partial<Delivery> = {}): Delivery {
  const subscriptionId = parseSubscriptionId(subscription)
  const eventId = newEventId()
  const deliveryId = deliveryIdOf(eventId, subscriptionId)
  const occurredAt = new Date().toISOString()
  const { tenant = 'acme' } = change
  const data = { callId: 'c', state: 3 }
  return {
    deliveryId,
    subscriptionId,
    eventId,
    eventType: 'call.status',
    tenant,
    url: 'https://client.example/hooks',
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: occurredAt,
    body: envelopesOf({ eventType: 'call.status', occurredAt, tenant }, JSON.stringify(data))(deliveryId),
    ...change,
  }
}

/** The next attempt of a delivery, answered with 503. */
export const attemptOf = ({ run, slot, attempt }: Delivery, change: Partial<Attempt> = {}): Attempt => ({
  run,
  slot,
  attempt: attempt + 1,
  at: new Date().toISOString(),
  durationMs: 12,
  outcome: 'answered',
  status: 503,
  ...change,
})

/** The settlement of a failed slot: of the first one, unless `slot`, the next one, is given. */
export const waitingUntil = (nextAttemptAt: string, slot = 1): Settlement => ({
  state: 'waiting',
  slot,
  nextAttemptAt,
  next: { token: 'a', postponed: 0 },
})

/** A `call.status` event of the tenant `acme` as fan-out logs it, without subscriptions. */
export const loggedEvent = (change: Partial<LoggedEvent> = {}): LoggedEvent => ({
  eventId: newEventId(),
  eventType: 'call.status',
  tenant: 'acme',
  occurredAt: '2026-11-20T17:06:01.173Z',
  fannedOutAt: new Date().toISOString(),
  subscriptionIds: [],
  subject: { callId: null, agentUri: null, correlationId: null },
  ...change,
})

const kept = { size: 1_000, retentionMs: HOUR_MS, deliveryRetentionMs: HOUR_MS }

/** Logs a fan-out. In production the entry can be 50 ms later than the start of the first attempt. */
export async function logFanOut(redis: Redis, event: LoggedEvent): Promise<void> {
  await createDeliveryLog(redis, kept).write([event])
  await createJournal(redis, kept).append([event])
}
