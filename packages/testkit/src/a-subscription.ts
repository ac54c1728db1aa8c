import { newSubscriptionId, type Subscription } from '@switchhook/contracts'

/** An enabled subscription of `acme` to `call.status`. */
export const aSubscription = (change: Partial<Subscription> = {}): Subscription => ({
  id: newSubscriptionId(),
  tenant: 'acme',
  url: 'https://client.example/hook',
  eventTypes: ['call.status'],
  description: null,
  enabled: true,
  createdAt: '2026-11-20T12:00:00.000Z',
  ...change,
})
