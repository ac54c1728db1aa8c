import { AppError } from '@switchhook/contracts'
import { placeBefore } from './subscription-order.ts'

test.each(['x', Buffer.from('2026').toString('base64url'), Buffer.from('{} {}').toString('base64url')])(
  'the cursor %s is rejected',
  (cursor) => {
    expect(() => placeBefore({ limit: 1, cursor })).toThrow(AppError)
  },
)
