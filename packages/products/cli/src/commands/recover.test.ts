import type { Schemas } from '@switchhook/client'
import { progressOf } from './recover.ts'

test.each([
  [{ sent: 120, remaining: 180, perSecond: 12.4, waitingFor: null }, '120 of 300 sent, 12/s'],
  [
    { sent: 0, remaining: 3, perSecond: 1, waitingFor: 'endpoint-cooling-down' },
    '0 of 3 sent, waiting: endpoint-cooling-down',
  ],
])('%j is "%s"', (recovery, text) => {
  expect(progressOf(recovery as Schemas['Recovery'])).toBe(text)
})
