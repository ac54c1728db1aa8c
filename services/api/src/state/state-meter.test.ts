import { CallState, EndReason, newEventId, type PlatformEvent } from '@switchhook/contracts'
import { createMetrics } from '@switchhook/runtime'
import { countTimers, createEventMeter } from './state-meter.ts'

const event = (eventType: PlatformEvent['eventType'], data: PlatformEvent['data'] = {}): PlatformEvent => ({
  eventId: newEventId(),
  eventType,
  occurredAt: '2026-11-20T08:29:59.500Z',
  tenant: 'acme',
  data,
})

const samplesOf = (text: string): string[] =>
  text.split('\n').filter((line) => line.startsWith('switchhook_') && !line.endsWith(' 0'))

test('stored events count by type; a leg counts once when it begins, and once by its reason when it ends', async () => {
  const metrics = createMetrics('api')
  const { written } = createEventMeter(metrics)
  const end = { sequence: 3, state: CallState.ended, endReason: EndReason.busy }
  written({ events: [event('call.status', { sequence: 1, state: CallState.initiated }), event('agent.status')] })
  written({ events: [event('call.status', { sequence: 2, state: CallState.proceeding }), event('call.status', end)] })
  written({})
  expect(samplesOf(await metrics.text())).toEqual([
    'switchhook_events_accepted_total{event_type="call.status",service="api"} 3',
    'switchhook_events_accepted_total{event_type="agent.status",service="api"} 1',
    'switchhook_call_legs_begun_total{service="api"} 1',
    'switchhook_call_legs_ended_total{reason="busy",service="api"} 1',
  ])
})

test('events count as relayed once they are marked sent, and not before', async () => {
  const metrics = createMetrics('api')
  const entries = [1, 2].map((id) => ({ event: event('call.status'), partition: 0, id: String(id) }))
  const marked: unknown[] = []
  const state = { isAway: true }
  const sent = createEventMeter(metrics).relaying({
    sent: async (sent) => {
      if (state.isAway) throw new Error('Redis is away')
      marked.push(...sent)
    },
  })
  await expect(sent(entries)).rejects.toThrow('Redis is away')
  expect(samplesOf(await metrics.text())).toEqual([])
  state.isAway = false
  await sent(entries)
  expect(marked).toEqual(entries)
  expect(samplesOf(await metrics.text())).toEqual(['switchhook_events_relayed_total{service="api"} 2'])
})

test('each handled timer counts by owner and result, and a failure is passed on', async () => {
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
