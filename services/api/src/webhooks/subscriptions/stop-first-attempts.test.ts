import { SUBSCRIPTION_LEASE_MARGIN_MS, SUBSCRIPTION_LEASE_MS } from '@switchhook/contracts'
import { aSubscription } from '@switchhook/testkit'
import { firstAttemptsStopped, stopsFirstAttempts } from './stop-first-attempts.ts'

const before = aSubscription()

test.each<[boolean, string, Parameters<typeof stopsFirstAttempts>]>([
  [true, 'disabling', [{ enabled: false }, before]],
  [true, 'disabling a disabled subscription', [{ enabled: false }, { ...before, enabled: false }]],
  [true, 'disabling a deleted subscription', [{ enabled: false }, undefined]],
  [true, 'another url', [{ url: 'https://client.example/moved' }, before]],
  [true, 'the same url', [{ url: before.url }, before]],
  [true, 'other event types', [{ eventTypes: ['agent.status'] }, before]],
  [
    true,
    'fewer event types',
    [{ eventTypes: ['call.status'] }, { ...before, eventTypes: ['call.status', 'agent.status'] }],
  ],
  [true, 'a type instead of all', [{ eventTypes: ['call.status'] }, { ...before, eventTypes: ['*'] }]],
  [true, 'all types again', [{ eventTypes: ['*'] }, { ...before, eventTypes: ['*'] }]],
  [false, 'all types instead of one', [{ eventTypes: ['*'] }, before]],
  [true, 'the same event types', [{ eventTypes: ['call.status'] }, before]],
  [true, 'event types of a deleted subscription', [{ eventTypes: ['call.status'] }, undefined]],
  [true, 'a filter', [{ filter: { 'call.status': { state: [7] } } }, before]],
  [true, 'headers', [{ headers: {} }, before]],
  [true, 'an age', [{ expireAfterSeconds: 60 }, before]],
  [true, 'a limit', [{ maxInFlight: 2 }, before]],
  [false, 'removing a limit', [{ maxPerSecond: undefined }, { ...before, maxPerSecond: 2 }]],
  [false, 'removing the filter', [{ filter: undefined }, { ...before, filter: { 'call.status': { state: [7] } } }]],
  [false, 'more event types', [{ eventTypes: ['agent.status', 'call.status'] }, before]],
  [false, 'enabling', [{ enabled: true }, { ...before, enabled: false }]],
  [false, 'an empty change', [{}, before]],
])('whether a change stops first attempts is %s for %s', (expected, _name, args) => {
  expect(stopsFirstAttempts(...args)).toBe(expected)
})

test('the wait lasts for a lease and its margin, even if it begins late in an event loop iteration', async () => {
  const startedAtMs = performance.now()
  // Timers count from the start of the iteration; make this one long.
  while (performance.now() - startedAtMs < 50);
  const storedAtMs = performance.now()
  await firstAttemptsStopped(storedAtMs)
  expect(performance.now() - storedAtMs).toBeGreaterThanOrEqual(SUBSCRIPTION_LEASE_MS + SUBSCRIPTION_LEASE_MARGIN_MS)
})
