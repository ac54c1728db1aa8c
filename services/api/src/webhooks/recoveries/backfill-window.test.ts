import { newSubscriptionId } from '@switchhook/contracts'
import { wentTo } from './backfill-window.ts'

const [id, other, another] = [newSubscriptionId(), newSubscriptionId(), newSubscriptionId()]
const subscription = { id, createdAt: '2026-11-20T12:00:00.000Z' }

test.each<[string, boolean | 'unknown', Partial<Parameters<typeof wentTo>[1]>]>([
  ['is in the complete list', true, { subscriptionIds: [other, id] }],
  ['is not in the complete list', false, { subscriptionIds: [other] }],
  ['is in a cut list', true, { subscriptionIds: [other, id], subscriptionCount: 3 }],
  ['is not in a cut list', 'unknown', { subscriptionIds: [other, another], subscriptionCount: 3 }],
  [
    'was created within the difference of two clocks after an event with a cut list',
    'unknown',
    { subscriptionIds: [other], subscriptionCount: 2, fannedOutAt: '2026-11-20T11:59:00.000Z' },
  ],
  [
    'was created after an event with a cut list',
    false,
    { subscriptionIds: [other], subscriptionCount: 2, fannedOutAt: '2026-11-20T11:58:59.999Z' },
  ],
])('whether an event went to a subscription that %s: %s', (_case, expected, change) => {
  const { subscriptionIds = [] } = change
  const entry = { subscriptionIds, subscriptionCount: subscriptionIds.length, fannedOutAt: '2026-11-20T13:00:00.000Z' }
  expect(wentTo(subscription, { ...entry, ...change })).toBe(expected)
})
