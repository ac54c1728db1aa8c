import type { EventType } from '../events/event.ts'
import { newSubscriptionId } from '../ids.ts'
import { receives } from './subscription.ts'

test.each<[string, readonly EventType[], boolean, boolean]>([
  ['an enabled one that names the type receives it', ['agent.status', 'call.status'], true, true],
  ['an enabled one that does not name it does not', ['agent.status'], true, false],
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
