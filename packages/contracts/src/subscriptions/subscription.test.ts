import { newSubscriptionId } from '../ids.ts'
import { distinctTypes, isPaused, receives, type SubscribedType } from './subscription.ts'

test.each<[string, readonly SubscribedType[], boolean, boolean]>([
  ['an enabled one that names the type receives it', ['agent.status', 'call.status'], true, true],
  ['an enabled one that does not name it does not', ['agent.status'], true, false],
  ['one to all types receives it, also a type that its list lacks', ['agent.status', '*'], true, true],
  ['a disabled one receives nothing', ['call.status'], false, false],
])('%s', (_name, eventTypes, enabled, expected) => {
  const subscription = {
    id: newSubscriptionId(),
    tenant: 'acme',
    url: 'https://client.example/hooks',
    eventTypes,
    description: null,
    enabled,
    createdAt: '2026-11-20T12:00:00.000Z',
  }
  expect(receives(subscription, 'call.status')).toBe(expected)
})

test.each([
  [{}, false],
  [{ paused: true }, true],
  [{ pausedUntil: '2026-11-20T12:00:00.001Z' }, true],
  [{ pausedUntil: '2026-11-20T12:00:00.000Z' }, false],
  [{ paused: true, pausedUntil: '2026-11-20T11:00:00.000Z' }, true],
] as const)('at noon, %j is paused: %j', (settings, expected) => {
  expect(isPaused(settings, Date.parse('2026-11-20T12:00:00.000Z'))).toBe(expected)
})

test('types are stored without repetitions, and the sign for all types alone', () => {
  expect(distinctTypes(['*', 'call.status'])).toEqual(['*'])
  expect(distinctTypes(['agent.status', 'call.status', 'agent.status'])).toEqual(['agent.status', 'call.status'])
})
