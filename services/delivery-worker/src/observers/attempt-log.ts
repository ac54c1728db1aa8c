import { traceIdOf } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import type { Concluded } from './observer.ts'

/**
 * One line per slot of a delivery. A subscriber's failure is ordinary, so even a parked delivery is logged as `info`.
 * @param sampleAcknowledged of the deliveries acknowledged at their first attempt, one in this many gets its line. Every
 * failure, and the end of a delivery that had failed, has its line.
 */
export function createAttemptLog(log: Pick<Logger, 'info'>, sampleAcknowledged: number): Concluded {
  let acknowledgedAtOnce = 0
  return (delivery, attempt, decision, outcome) => {
    const isOrdinary = decision.kind === 'acknowledged' && attempt?.attempt === 1
    if (isOrdinary && sampleAcknowledged > 1 && acknowledgedAtOnce++ % sampleAcknowledged !== 0) return
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
      ...((decision.kind === 'retry' || decision.kind === 'postpone') && { waitMs: decision.waitMs }),
      ...(decision.kind === 'park' && { reason: decision.reason }),
      ...(isOrdinary && sampleAcknowledged > 1 && { sampled: sampleAcknowledged }),
    })
  }
}
