import { duration } from '@switchhook/runtime'
import { SETTINGS } from './settings.ts'

/** Of `KILLS`, and of a fault with its recovery: 200 faults took 680 s. */
const MAX_FAULTS = 10_000
const FAULT_MS = 5_000

test('the records of acknowledged deliveries outlive the longest run', () => {
  expect(duration().parse(SETTINGS.DELIVERY_RETENTION)).toBeGreaterThan(MAX_FAULTS * FAULT_MS)
})
