import { newSubscriptionId, parseRecoveryId } from '@switchhook/contracts'
import { newRecovery } from './recovery.ts'
import { recoverySchema, viewOf } from './recovery-schema.ts'

test('a recovery is shown with the documented fields in their order, whatever a later version stores with its selection', () => {
  const selection = { ofLaterVersion: 1, reason: null, to: null, from: null }
  const recovery = newRecovery(
    {
      recoveryId: parseRecoveryId('b3b3c5c4-1f0e-4b36-9a55-0d8a5a6c7e21'),
      subscriptionId: newSubscriptionId(),
      selection,
      maxPerSecond: null,
      found: 0,
      failed: 0,
      after: '0',
      until: '0',
    },
    Date.UTC(2026, 0, 1),
  )
  expect(Object.keys(viewOf(recovery, 0))).toEqual(recoverySchema.required)
})
