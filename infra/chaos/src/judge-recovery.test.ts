import { judgeRecovery } from './judge-recovery.ts'
import type { RecoverySeen } from './observation.ts'

const seen: RecoverySeen = {
  state: 'done',
  found: 2,
  sent: 2,
  skipped: 0,
  failed: 0,
  deliveries: [
    { deliveryId: 'd1', state: 'acknowledged', run: 2, parkedRun: 1 },
    { deliveryId: 'd2', state: 'acknowledged', run: 2, parkedRun: 1 },
  ],
}

test('nothing is wrong when each was sent once and acknowledged', () => {
  expect(judgeRecovery(seen)).toEqual([])
})

test('more may have been parked between the look and the beginning', () => {
  expect(judgeRecovery({ ...seen, found: 3, sent: 3 })).toEqual([])
})

test.each<[string, Partial<RecoverySeen>, string]>([
  ['it does not end', { state: 'running', sent: 1 }, 'it is running'],
  ['it leaves one out', { found: 1, sent: 1 }, 'found 1 of 2'],
  ['one failed', { found: 3, failed: 1, sent: 3 }, '1 failed'],
  ['one was not sent', { sent: 1, skipped: 1 }, 'sent 1, skipped 1 of 2'],
  [
    'one is parked still',
    { deliveries: [{ deliveryId: 'd1', state: 'parked', run: 1, parkedRun: 1 }] },
    'd1 is parked',
  ],
  [
    'one was sent in two runs',
    { deliveries: [{ deliveryId: 'd1', state: 'acknowledged', run: 3, parkedRun: 1 }] },
    'd1 was sent in 2 runs',
  ],
])('it is a problem if %s', (_name, more, what) => {
  expect(judgeRecovery({ ...seen, ...more })).toContainEqual({ kind: 'recovery', what })
})
