import type { Logger, Metrics, Tracing } from '@switchhook/runtime'
import { createAttemptLog } from './attempt-log.ts'
import { type ContactsDeps, startContacts } from './contacts.ts'
import { createDeliveryMeter, type DeliveryMeter } from './delivery-meter.ts'
import { createDeliverySpans, type DeliverySpans } from './delivery-spans.ts'
import { type DeliveryListener, notifyAll } from './listener.ts'
import { createLiveReports, type LiveReports, type LiveReportsDeps } from './live-attempts.ts'
import { type StatisticsDeps, startStatistics } from './statistics.ts'

export interface ReportingDeps {
  readonly log: Logger
  readonly metrics: Metrics
  readonly tracing: Tracing
  readonly contacts: ContactsDeps['store']
  /** One of this many deliveries that are acknowledged at their first attempt gets a log line. */
  readonly sampleAcknowledged: number
  readonly statistics: StatisticsDeps['store']
  readonly liveAttempts: LiveReportsDeps['publish']
}

export interface Reporting {
  readonly listener: Required<DeliveryListener>
  readonly meter: DeliveryMeter
  /** Lays a span around the handling of each message. */
  readonly traced: DeliverySpans['handle']
  /** Called with each look: whether somebody reads the tenant's live stream. */
  readonly noteListened: LiveReports['noteListened']
  readonly stop: () => Promise<void>
}

/** How often the contact times of endpoints are written. */
const CONTACTS_EVERY_MS = 5_000

/** How often the statistics are written. */
const STATISTICS_EVERY_MS = 10_000

/** Everything that observes deliveries: log, metrics, traces, contact times, statistics and the live stream. */
export function startReporting({ log, metrics, tracing, sampleAcknowledged, ...stores }: ReportingDeps): Reporting {
  const spans = createDeliverySpans(tracing)
  const meter = createDeliveryMeter(metrics)
  const contacts = startContacts({ store: stores.contacts, everyMs: CONTACTS_EVERY_MS, log })
  const statistics = startStatistics({ store: stores.statistics, everyMs: STATISTICS_EVERY_MS, log, now: Date.now })
  const live = createLiveReports({ publish: stores.liveAttempts, log })
  return {
    listener: notifyAll([
      spans.listener,
      contacts.listener,
      statistics.listener,
      meter.listener,
      live.listener,
      { concluded: createAttemptLog(log, sampleAcknowledged) },
    ]),
    meter,
    traced: spans.handle,
    noteListened: live.noteListened,
    stop: async () => {
      await Promise.all([contacts.stop(), statistics.stop(), live.flush()])
    },
  }
}
