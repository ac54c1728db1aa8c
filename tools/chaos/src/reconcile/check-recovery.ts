import type { Lapse, RecoverySeen } from './observation.ts'
import type { Problem } from './reconcile.ts'

/** The run in which a delivery was parked, and the run that the recovery began. */
const LAST_RUN = 2

/**
 * Checks one recovery at an endpoint that was repaired before it began: it has ended, has left no delivery out, has sent each delivery in
 * one run, and its counts add up. Duplicate POSTs are checked as for any other delivery.
 *
 * A Redis that lost writes may have lost counts and results. Then every delivery still has to be acknowledged.
 * @param isAcknowledged whether the receiver has answered this delivery with 2xx
 */
export function judgeRecovery(
  { endpoint, begunAtMs, state, found, sent, skipped, failed, deliveries }: RecoverySeen,
  lapses: readonly Lapse[],
  isAcknowledged: (deliveryId: string) => boolean,
): Problem[] {
  const problems: Problem[] = []
  const add = (what: string): void => void problems.push({ kind: 'recovery', what: `${endpoint}: ${what}` })
  const hasLostWrites = lapses.some(({ toMs }) => toMs >= begunAtMs)
  if (state !== 'done') add(`it is ${state}`)
  if (failed > 0) add(`${failed} failed`)
  if (!hasLostWrites) {
    if (found < deliveries.length) add(`found ${found} of ${deliveries.length}`)
    // Nobody else sends anything again.
    if (state === 'done' && (sent !== found || skipped > 0)) add(`sent ${sent}, skipped ${skipped} of ${found}`)
  }
  for (const delivery of deliveries) {
    const { deliveryId, run } = delivery
    if (delivery.state !== 'acknowledged' && !(hasLostWrites && isAcknowledged(deliveryId))) {
      add(`${deliveryId} is ${delivery.state}`)
    }
    if (run > LAST_RUN) add(`${deliveryId} was sent in ${run - 1} runs`)
  }
  return problems
}
