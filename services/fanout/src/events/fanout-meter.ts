import { EVENT_TYPES, type EventType } from '@switchhook/contracts'
import { type Metrics, SECONDS } from '@switchhook/runtime'

const SUBSCRIPTIONS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 10_000]

export function createFanoutMeter(metrics: Metrics) {
  const events = metrics.counter('switchhook_events_fanned_out_total', 'Events whose deliveries are all stored.')
  const byType = new Map(EVENT_TYPES.map((eventType) => [eventType, events.of({ event_type: eventType })]))
  const deliveriesPerEvent = metrics
    .histogram('switchhook_fanout_deliveries', 'Deliveries per event.', SUBSCRIPTIONS)
    .of({})
  const duration = metrics
    .histogram(
      'switchhook_fanout_duration_seconds',
      'From the begin of an event, after its wait to be handled, to the confirm of its last delivery.',
      SECONDS,
    )
    .of({})
  return (eventType: EventType, deliveries: number, tookMs: number): void => {
    byType.get(eventType)?.add()
    deliveriesPerEvent.observe(deliveries)
    duration.observe(tookMs / 1_000)
  }
}

export function createLogMeter(metrics: Metrics): (entries: number) => void {
  const dropped = metrics
    .counter(
      'switchhook_delivery_log_dropped_total',
      'Entries (events and deliveries) that are missing from the delivery log.',
    )
    .of({})
  return (entries) => dropped.add(entries)
}

/** Counts the events that went to a backlog, and the tenants whose events go there now. */
export function createIntakeMeter(metrics: Metrics, deferredTenants: () => number): () => void {
  const events = metrics
    .counter('switchhook_events_deferred_total', 'Events stored in a backlog, because their tenant was over its share.')
    .of({})
  metrics.gauge(
    'switchhook_deferred_tenants',
    'Tenants whose events this process puts into a backlog.',
    deferredTenants,
  )
  return () => events.add()
}
