import type { ScheduleOf } from '@switchhook/contracts'
import type { DeliveryState, MessageIdentity } from './delivery-record.ts'

/** How long a record is kept after its last change. */
export interface DeliveryRetention {
  /** Acknowledged, withdrawn and expired deliveries. */
  readonly settledRetentionMs: number
  readonly parkedRetentionMs: number
  /** A waiting delivery is kept for longer than its schedule takes. Absent: a copy waits in the broker for a moment. */
  readonly scheduleOf?: ScheduleOf
}

/** Time beyond the schedule, for an outage in which a waiting delivery cannot be consumed. */
const OUTAGE_SLACK_MS = 7 * 86_400_000
/** How long after its wait a copy may still arrive, because the broker or the workers were away. */
const COPY_SLACK_MS = 3_600_000

/**
 * What of a delivery expires when. Pure. Body and held message expire with the record.
 *
 * | what | kept after its last write |
 * | --- | --- |
 * | record, `waiting` | all waits of its schedule, and 7 days |
 * | record, `parked` or `held` | `parkedRetentionMs`; from the release by a limit, `settledRetentionMs` |
 * | record, other states | `settledRetentionMs` |
 * | ledger of a run that ended, apart from the record | the longest wait of a copy, and an hour; 0 if the record certainly lasts longer |
 */
export function createLifetimes(retention: DeliveryRetention) {
  const { settledRetentionMs, parkedRetentionMs, scheduleOf = () => ({ waitsMs: [], cooldownMs: 0 }) } = retention
  const leastKeptMs = Math.min(settledRetentionMs, parkedRetentionMs)
  return {
    recordMs(message: MessageIdentity, state: DeliveryState): number {
      if (state === 'waiting') return scheduleOf(message).waitsMs.reduce((sum, waitMs) => sum + waitMs, OUTAGE_SLACK_MS)
      return state === 'parked' || state === 'held' ? parkedRetentionMs : settledRetentionMs
    },
    /** @param hasRecord false: if the message is the first one, only copies of it exist, which wait for its first retry at most */
    ledgerMs(message: MessageIdentity, hasRecord: boolean): number {
      const { waitsMs, cooldownMs } = scheduleOf(message)
      const isAlone = !hasRecord && message.run === 1 && message.slot === 0
      // The last slot is postponed by a cool-down or any wait.
      const waitMs = isAlone ? (waitsMs[0] ?? cooldownMs) : Math.max(cooldownMs, ...waitsMs)
      return waitMs > leastKeptMs / 2 ? waitMs + COPY_SLACK_MS : 0
    },
  }
}
