import type { Schemas } from '@switchhook/client'
import { subscriptionState } from './words.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const health: Schemas['EndpointHealth'] = {
  state: 'closed',
  consecutiveFailures: 0,
  openUntil: null,
  lastSuccessAt: null,
  lastFailureAt: null,
  lastFailureOutcome: null,
  lastFailureStatus: null,
  failingSince: null,
}
const healthy = { enabled: true, paused: false, pausedUntil: null, health }

test.each<[string, Partial<Parameters<typeof subscriptionState>[0]>]>([
  ['ok', {}],
  ['ok', { pausedUntil: '2026-11-20T12:00:00.000Z' }],
  ['paused', { pausedUntil: '2026-11-20T12:00:00.001Z' }],
  ['paused', { paused: true, health: { ...health, state: 'open' } }],
  ['disabled', { paused: true, enabled: false }],
  ['open', { health: { ...health, state: 'open' } }],
  ['failed', { health: { ...health, failingSince: '2026-11-20T11:00:00.000Z' } }],
])('%s: %j', (state, change) => expect(subscriptionState({ ...healthy, ...change }, NOW)).toBe(state))
