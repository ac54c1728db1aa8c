import { createMetrics } from '@switchhook/runtime'
import { countTimers } from './count-timers.ts'

test('a timer counts by its owner and how it went, and what fails goes on failing', async () => {
  const metrics = createMetrics('api')
  const owners = countTimers(metrics, {
    agent: async () => {},
    audit: () => Promise.reject(new Error('no platform')),
  })
  const timer = { tenant: 'acme', payload: null }
  await owners['agent']?.(timer)
  await owners['agent']?.(timer)
  await expect(owners['audit']?.(timer)).rejects.toThrow('no platform')
  const samples = (await metrics.text()).split('\n').filter((line) => line.startsWith('switchhook_timers_fired_total'))
  expect(samples).toEqual([
    'switchhook_timers_fired_total{owner="agent",result="done",service="api"} 2',
    'switchhook_timers_fired_total{owner="agent",result="failed",service="api"} 0',
    'switchhook_timers_fired_total{owner="audit",result="done",service="api"} 0',
    'switchhook_timers_fired_total{owner="audit",result="failed",service="api"} 1',
  ])
})
