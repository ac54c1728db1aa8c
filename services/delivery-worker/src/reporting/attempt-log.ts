import { type Attempt, type Delivery, type Outcome, traceIdOf } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { Decision, Withheld } from '../policy/decide.ts'

/** Told of each turn of a delivery that has come to its end. */
export type Report = (
  delivery: Delivery,
  attempt: Attempt | null,
  decision: Decision,
  outcome: Outcome | Withheld,
) => void

/** One line per turn of a delivery. A subscriber's failure is ordinary life, so even a parked one is `info`. */
export function createReport(log: Logger): Report {
  return (delivery, attempt, decision, outcome) => {
    const { deliveryId, subscriptionId, eventId, eventType, tenant, run, slot, traceparent } = delivery
    log.info('delivery.attempted', {
      ...(traceparent !== undefined && { traceId: traceIdOf(traceparent) }),
      deliveryId,
      subscriptionId,
      eventId,
      eventType,
      tenant,
      run,
      slot,
      attempt: attempt?.attempt ?? null,
      outcome: attempt?.outcome ?? outcome.kind,
      status: attempt?.status ?? null,
      durationMs: attempt?.durationMs ?? null,
      decision: decision.kind,
      ...(decision.kind === 'retry' && { waitMs: decision.waitMs }),
      ...(decision.kind === 'park' && { reason: decision.reason }),
    })
  }
}
