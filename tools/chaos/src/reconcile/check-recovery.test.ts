import { checkRecovery } from './check-recovery.ts'
import type { Lapse, RecoverySeen } from './observation.ts'

const seen: RecoverySeen = {
  endpoint: 'healthy',
  begunAtMs: 1_000,
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

const check = (
  recovery: RecoverySeen,
  lapses: readonly Lapse[] = [],
  acknowledged: readonly string[] = [],
): ReturnType<typeof checkRecovery> => checkRecovery(recovery, lapses, (id) => acknowledged.includes(id))

test('finds no problem if each delivery was sent once and acknowledged', () => {
  expect(check(seen)).toEqual([])
})

test('accepts deliveries that were parked after the list was read and before the recovery began', () => {
  expect(check({ ...seen, found: 3, sent: 3 })).toEqual([])
})

test('accepts that it skips a delivery whose other duplicate was acknowledged after the parking', () => {
  const [first, second] = seen.deliveries
  const deliveries = [{ ...first, run: 1 }, second] as RecoverySeen['deliveries']
  expect(check({ ...seen, sent: 1, skipped: 1, deliveries })).toEqual([])
  expect(check({ ...seen, found: 1, sent: 1, deliveries })).toEqual([])
  expect(check({ ...seen, found: 3, sent: 2, skipped: 1 })).toEqual([])
  expect(check({ ...seen, found: 3, sent: 1, skipped: 2 })).toHaveLength(1)
})

test.each<[string, Partial<RecoverySeen>, string]>([
  ['the recovery does not end', { state: 'running', sent: 1 }, 'it is running'],
  ['it omits a delivery', { found: 1, sent: 1 }, 'found 1 of 2'],
  ['a delivery failed', { found: 3, failed: 1, sent: 3 }, '1 failed'],
  ['a delivery was skipped', { sent: 1, skipped: 1 }, 'sent 1, skipped 1 of 2, of which 0 may be skipped'],
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
  expect(check({ ...seen, ...more })).toContainEqual({ kind: 'recovery', what: `healthy: ${what}` })
})

describe('Redis lost writes', () => {
  const lost = { ...seen, sent: 1, deliveries: [{ deliveryId: 'd1', state: 'pending', run: 2, parkedRun: 1 }] }
  const lapse = (fromMs: number, toMs: number): Lapse => ({ kind: 'rolled back', fromMs, toMs })

  test('after it had begun: counts may be wrong, but every delivery must be acknowledged', () => {
    expect(check(lost, [lapse(2_000, 3_000)], ['d1'])).toEqual([])
    expect(check(lost, [lapse(2_000, 3_000)])).toEqual([{ kind: 'recovery', what: 'healthy: d1 is pending' }])
  })

  test('before it had begun: nothing is excused', () => {
    expect(check(lost, [lapse(100, 900)], ['d1'])).toHaveLength(2)
  })
})
