import { AppError } from '@switchhook/contracts'
import { unverified } from '@switchhook/testkit'
import type { Redis } from '../redis/redis.ts'
import { createSubscriptionOrder } from './subscription-order.ts'

test.each(['x', Buffer.from('2026').toString('base64url'), Buffer.from('{} {}').toString('base64url')])(
  'the cursor %s is rejected',
  async (cursor) => {
    // No command is sent.
    const order = createSubscriptionOrder({} as Redis, unverified)
    await expect(order.page('acme', { limit: 1, cursor })).rejects.toThrow(AppError)
  },
)
