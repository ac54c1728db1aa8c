import { type Logger, type Metrics, startPoll, type Tracing } from '@switchhook/runtime'
import { createAttemptLog } from './attempt-log.ts'
import { type ContactsDeps, createContacts } from './contacts.ts'
import { createDeliveryMeter, type DeliveryMeter } from './delivery-meter.ts'
import { createDeliverySpans, type DeliverySpans } from './delivery-spans.ts'
import { type DeliveryListener, notifyAll } from './listener.ts'
import { createLiveReports, type LiveReports, type LiveReportsDeps } from './live-attempts.ts'
import { createStatistics, type StatisticsDeps } from './statistics.ts'

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
  /** Wraps the handling of each message in a span. */
  readonly traced: DeliverySpans['handle']
  /** Called with each look: whether a listener reads the tenant's live stream. */
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
  const contacts = createContacts({ store: stores.contacts, log })
  const statistics = createStatistics({ store: stores.statistics, log, now: Date.now })
  const live = createLiveReports({ publish: stores.liveAttempts, log })
  const polls = [startPoll(CONTACTS_EVERY_MS, contacts.flush), startPoll(STATISTICS_EVERY_MS, statistics.flush)]
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
      await Promise.all(polls.map((poll) => poll.stop()))
      await Promise.all([contacts.flush(), statistics.flush(), live.flush()])
    },
  }
}
