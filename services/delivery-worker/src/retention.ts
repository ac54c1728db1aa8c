import type { WorkerConfig } from './config.ts'

/** Beyond the schedule: time for an outage in which a waiting delivery cannot be picked up. */
const OUTAGE_SLACK_MS = 7 * 86_400_000

/** How long the record of a delivery is kept, by its state, in ms. */
export function retentionOf(config: WorkerConfig): {
  readonly settledRetentionMs: number
  readonly waitingRetentionMs: number
  readonly parkedRetentionMs: number
} {
  const scheduleMs = config.DELIVERY_RETRY_WAITS.reduce((sum, waitMs) => sum + waitMs, 0)
  return {
    settledRetentionMs: config.DELIVERY_RETENTION,
    waitingRetentionMs: scheduleMs + OUTAGE_SLACK_MS,
    parkedRetentionMs: config.PARKED_RETENTION,
  }
}
