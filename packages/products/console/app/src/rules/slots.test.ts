import type { Attempt } from '../api/model.ts'
import { slotsOf } from './slots.ts'

const WAITS = [10_000, 60_000, 300_000]
const START = Date.parse('2026-11-20T12:00:00Z')
const at = (ms: number): string => new Date(START + ms).toISOString()

const attempt = (slot: number, ms: number, outcome: Attempt['outcome'] = 'timeout', run = 1): Attempt => ({
  run,
  slot,
  attempt: slot + 1,
  at: at(ms),
  durationMs: 1,
  outcome,
  status: null,
})

const kinds = (delivery: Partial<Parameters<typeof slotsOf>[0]>): string[] =>
  slotsOf({ run: 1, attempts: [], nextAttemptAt: null, firstDueAt: at(0), ...delivery }, WAITS).map(({ kind }) => kind)

test('a first attempt that is due', () => {
  expect(kinds({ nextAttemptAt: at(0) })).toEqual(['next', 'later', 'later', 'later'])
})

test('a retry after one failure', () => {
  const delivery = { attempts: [attempt(0, 0)], nextAttemptAt: at(10_100) }
  expect(kinds(delivery)).toEqual(['failed', 'next', 'later', 'later'])
})

test('a cool-down that used up a slot', () => {
  const delivery = { attempts: [attempt(0, 0)], nextAttemptAt: at(70_200) }
  expect(kinds(delivery)).toEqual(['failed', 'skipped', 'next', 'later'])
})

test('an acknowledged delivery leaves the rest unused', () => {
  expect(kinds({ attempts: [attempt(0, 0), attempt(1, 10_000, 'delivered')] })).toEqual([
    'failed',
    'acknowledged',
    'unused',
    'unused',
  ])
})

test('an exhausted delivery', () => {
  const attempts = [attempt(0, 0), attempt(1, 10_000), attempt(3, 370_000)]
  expect(kinds({ attempts })).toEqual(['failed', 'failed', 'skipped', 'failed'])
})

test('an attempt beyond the schedule, after a wait for a secret, is shown in the last slot', () => {
  expect(kinds({ attempts: [attempt(5, 400_000, 'delivered')] })).toEqual([
    'skipped',
    'skipped',
    'skipped',
    'acknowledged',
  ])
})

test('only the current run counts', () => {
  const attempts = [attempt(0, 0), attempt(1, 10_000), attempt(0, 500_000, 'timeout', 2)]
  expect(kinds({ run: 2, attempts, nextAttemptAt: at(510_000) })).toEqual(['failed', 'next', 'later', 'later'])
})

test('later slots are planned from the next attempt', () => {
  const slots = slotsOf({ run: 1, attempts: [attempt(0, 0)], nextAttemptAt: at(10_000), firstDueAt: at(0) }, WAITS)
  expect(slots.map((slot) => slot.at)).toEqual([at(0), at(10_000), at(70_000), at(370_000)])
})
