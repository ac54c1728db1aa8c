import type { Logger, Metrics, Tracing } from '@switchhook/runtime'
import { createAttemptLog } from './attempt-log.ts'
import { type ContactsDeps, startContacts } from './contacts.ts'
import { createDeliveryMeter, type DeliveryMeter } from './delivery-meter.ts'
import { createDeliverySpans, type DeliverySpans } from './delivery-spans.ts'
import { type DeliveryListener, notifyAll } from './listener.ts'

export interface ReportingDeps {
  readonly log: Logger
  readonly metrics: Metrics
  readonly tracing: Tracing
  readonly contacts: ContactsDeps['store']
  /** One of this many deliveries that are acknowledged at their first attempt gets a log line. */
  readonly sampleAcknowledged: number
}

export interface Reporting {
  readonly listener: Required<DeliveryListener>
  readonly meter: DeliveryMeter
  /** Lays a span around the handling of each message. */
  readonly traced: DeliverySpans['handle']
  readonly stop: () => Promise<void>
}

/** How often the contact times of endpoints are written. */
const CONTACTS_EVERY_MS = 5_000

/** Everything that observes deliveries: the log, the metrics, the traces and the contact times of the endpoints. */
export function startReporting(deps: ReportingDeps): Reporting {
  const { log, metrics, tracing, contacts: store, sampleAcknowledged } = deps
  const spans = createDeliverySpans(tracing)
  const meter = createDeliveryMeter(metrics)
  const contacts = startContacts({ store, everyMs: CONTACTS_EVERY_MS, log })
  return {
    listener: notifyAll([
      spans.listener,
      contacts.listener,
      meter.listener,
      { concluded: createAttemptLog(log, sampleAcknowledged) },
    ]),
    meter,
    traced: spans.handle,
    stop: () => contacts.stop(),
  }
}
