import type { Broker } from '@switchhook/messaging'
import type { Base } from '../../base.ts'

/** Publishes a delivery in the trace of the current request. */
export const publishInTrace =
  ({ publishDelivery, traceOfRequest }: Base): Broker['publishDelivery'] =>
  (delivery) => {
    const traceparent = traceOfRequest()
    return publishDelivery({ ...delivery, ...(traceparent !== undefined && { traceparent }) })
  }
