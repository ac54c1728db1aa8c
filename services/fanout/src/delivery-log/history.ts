import type { Logger } from '@switchhook/runtime'
import { createDeliveryLog, createJournal, type LoggedEvent, type Redis } from '@switchhook/store'
import type { FanoutConfig } from '../config.ts'
import { createLogBuffer } from './log-buffer.ts'

/** Writes events to the delivery log and to the journal, as far as they are on. */
export function createHistory(deps: {
  readonly config: FanoutConfig
  readonly redis: Redis
  /** Called with the number of entries that are missing. */
  readonly dropped: (entries: number) => void
  readonly log: Logger
}) {
  const { config, redis, dropped, log } = deps
  const deliveryLog = createDeliveryLog(redis, {
    size: config.DELIVERY_LOG_SIZE,
    retentionMs: config.DELIVERY_LOG_RETENTION,
  })
  const journal = createJournal(redis, {
    size: config.EVENT_JOURNAL_SIZE,
    retentionMs: config.EVENT_JOURNAL_RETENTION,
    deliveryRetentionMs: config.DELIVERY_RETENTION,
  })
  const isLogOn = config.DELIVERY_LOG_SIZE > 0
  const isOn = isLogOn || config.EVENT_JOURNAL_SIZE > 0
  const buffer = createLogBuffer({
    writes: [
      ...(isLogOn ? [(events: readonly LoggedEvent[]) => deliveryLog.write(events)] : []),
      // The journal last: while it is behind, the live stream shows no event that cannot be explained yet.
      (events) => journal.append(events),
    ],
    dropped,
    log,
  })
  return { add: isOn ? buffer.add : () => {}, close: () => buffer.close() }
}
