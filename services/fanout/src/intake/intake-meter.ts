import type { Metrics } from '@switchhook/runtime'

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
