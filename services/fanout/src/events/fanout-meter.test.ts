import { createMetrics } from '@switchhook/runtime'
import { createFanoutMeter, createLogMeter } from './fanout-meter.ts'

test('each event is counted by type, with its number of deliveries and its duration', async () => {
  const metrics = createMetrics('fanout')
  const fannedOut = createFanoutMeter(metrics)
  fannedOut('call.status', 20, 4)
  fannedOut('call.status', 0, 1)
  fannedOut('agent.status', 1, 2)
  const lines = (await metrics.text()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'switchhook_events_fanned_out_total{event_type="call.status",service="fanout"} 2',
      'switchhook_events_fanned_out_total{event_type="agent.status",service="fanout"} 1',
      'switchhook_fanout_deliveries_sum{service="fanout"} 21',
      'switchhook_fanout_deliveries_count{service="fanout"} 3',
      'switchhook_fanout_deliveries_bucket{le="0",service="fanout"} 1',
      'switchhook_fanout_duration_seconds_sum{service="fanout"} 0.007',
    ]),
  )
})

test('entries missing from the delivery log are counted, starting at zero', async () => {
  const metrics = createMetrics('fanout')
  const dropped = createLogMeter(metrics)
  expect(await metrics.text()).toContain('switchhook_delivery_log_dropped_total{service="fanout"} 0')
  dropped(3)
  expect(await metrics.text()).toContain('switchhook_delivery_log_dropped_total{service="fanout"} 3')
})
