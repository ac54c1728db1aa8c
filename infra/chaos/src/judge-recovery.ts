import type { RecoverySeen } from './observation.ts'
import type { Problem } from './reconcile.ts'

/** Of those that an acknowledged delivery was parked in, and of the one that the recovery began. */
const LAST_RUN = 2

/**
 * Of one recovery, at an endpoint that was repaired before it began: it has come to its end, has left none out, has sent each
 * in one run alone, and its counts add up. Whether a delivery was POSTed twice is judged as for any other.
 */
export function judgeRecovery({ state, found, sent, skipped, failed, deliveries }: RecoverySeen): Problem[] {
  const problems: Problem[] = []
  const add = (what: string): void => void problems.push({ kind: 'recovery', what })
  if (state !== 'done') add(`it is ${state}`)
  if (found < deliveries.length) add(`found ${found} of ${deliveries.length}`)
  if (failed > 0) add(`${failed} failed`)
  // Nobody else sends anything again.
  if (state === 'done' && (sent !== found || skipped > 0)) add(`sent ${sent}, skipped ${skipped} of ${found}`)
  for (const { deliveryId, state: stateOfDelivery, run } of deliveries) {
    if (stateOfDelivery !== 'acknowledged') add(`${deliveryId} is ${stateOfDelivery}`)
    if (run > LAST_RUN) add(`${deliveryId} was sent in ${run - 1} runs`)
  }
  return problems
}
