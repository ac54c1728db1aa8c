import { createLifetimes } from './ledger-store.ts'
import { deliveryOf } from './testing/deliveries.ts'

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000]
const RETENTION = { finishedRetentionMs: 2 * DAY_MS, parkedRetentionMs: 30 * DAY_MS }
const scheduled = (waitsMs: readonly number[], cooldownMs = 30_000) =>
  createLifetimes({ ...RETENTION, scheduleOf: () => ({ waitsMs, cooldownMs }) })

test.each([
  ['pending', 2 * DAY_MS],
  ['acknowledged', 2 * DAY_MS],
  ['withdrawn', 2 * DAY_MS],
  ['expired', 2 * DAY_MS],
  ['parked', 30 * DAY_MS],
  ['held', 30 * DAY_MS],
  ['waiting', 7 * DAY_MS + 3 * HOUR_MS],
] as const)('the record of a delivery that is %s is kept for %d ms', (state, keptMs) => {
  expect(scheduled([HOUR_MS, 2 * HOUR_MS]).recordMs(deliveryOf(), state)).toBe(keptMs)
})

test.each([
  ['no duplicate waits for long', [HOUR_MS], 30_000, 0, 0],
  ['a duplicate can wait for the half of its retention', [DAY_MS], 30_000, 0, 0],
  [
    'a later retry waits for longer than the record lasts at the limit of its tenant',
    [60_000, HOUR_MS + 1],
    30_000,
    0,
    2 * HOUR_MS + 1,
  ],
  ['a later retry waits for longer', [HOUR_MS, 30 * HOUR_MS], 30_000, 0, 31 * HOUR_MS],
  ['the first retry waits for longer', [30 * HOUR_MS, HOUR_MS], 30_000, 31 * HOUR_MS, 31 * HOUR_MS],
  ['a cool-down takes longer', [HOUR_MS], 30 * HOUR_MS, 31 * HOUR_MS, 31 * HOUR_MS],
  ['there is no retry, and a cool-down takes longer', [], 30 * HOUR_MS, 31 * HOUR_MS, 31 * HOUR_MS],
])(
  'if %s, the ledger of a first message outlives its record as long as a duplicate can',
  (_, waitsMs, cooldownMs, alone, other) => {
    const lifetimes = scheduled(waitsMs, cooldownMs)
    expect(lifetimes.ledgerMs(deliveryOf(), false)).toBe(alone)
    expect(lifetimes.ledgerMs(deliveryOf(), true)).toBe(other)
    for (const later of [{ run: 2 }, { slot: 1 }]) expect(lifetimes.ledgerMs(deliveryOf(later), false)).toBe(other)
  },
)

test.each([
  ['the usual schedule', [10_000, HOUR_MS], 30_000, 60_000],
  ['a short one', [10], 5, 60_000],
  ['a longer first wait', [5 * 60_000], 30_000, 10 * 60_000],
  ['a longer cool-down', [10_000], HOUR_MS, 2 * HOUR_MS],
  ['a first wait of more than half of the retention, with a ledger apart', [30 * HOUR_MS], 30_000, 60_000],
])('the shortest record lasts for twice the first wait, at least a minute: %s', (_, waitsMs, cooldownMs, keptMs) => {
  const lifetimes = scheduled(waitsMs, cooldownMs)
  expect(lifetimes.shortestMs(deliveryOf())).toBe(keptMs)
  const recognisedMs = Math.max(keptMs, lifetimes.ledgerMs(deliveryOf(), false))
  expect(recognisedMs).toBeGreaterThan(Math.max(cooldownMs, waitsMs[0] ?? 0))
})
