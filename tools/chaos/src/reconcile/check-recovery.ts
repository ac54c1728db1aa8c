import type { Lapse, RecoverySeen } from './observation.ts'
import type { Problem } from './problem.ts'

/** The run in which a delivery was parked, and the run that the recovery began. */
const LAST_RUN = 2

/**
 * Whether the delivery left the list without the recovery. Of two duplicates under way at the repair, one is rejected and
 * parks the delivery, and the other is acknowledged after that.
 */
export const isAcknowledgedUnsent = ({ state, run, parkedRun }: RecoverySeen['deliveries'][number]): boolean =>
  state === 'acknowledged' && run === parkedRun

/**
 * Checks a recovery for an endpoint that was repaired before it began: it ended, it included every delivery, it sent each
 * in one run, and its counts add up. `checkDelivery` checks its POSTs.
 *
 * If Redis lost writes, counts and results may be lost, but every delivery must still be acknowledged.
 * @param isAcknowledged whether the receiver answered this delivery with 2xx
 */
export function checkRecovery(
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
    const leftAlone = deliveries.filter(isAcknowledgedUnsent).length
    if (found < deliveries.length - leftAlone) add(`found ${found} of ${deliveries.length}`)
    // Those that were parked after the list was read are not in `deliveries`.
    const mayBeSkipped = leftAlone + Math.max(0, found - deliveries.length)
    if (state === 'done' && (sent + skipped !== found || skipped > mayBeSkipped)) {
      add(`sent ${sent}, skipped ${skipped} of ${found}, of which ${mayBeSkipped} may be skipped`)
    }
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
