import type { Attempt } from '@switchhook/contracts'
import { array, assert, constantFrom, double, integer, oneof, property, record } from 'fast-check'
import { addCounts, addStored, type Counts, countAttempt, countEnd, figuresOf, formatCounts } from './counts.ts'
import { ANSWER_TIMES, type Bounds, bucketOf, DELAYS, percentilesOf } from './histogram.ts'

const histogram = constantFrom(ANSWER_TIMES, DELAYS)
const time = oneof(integer({ min: 0, max: 300_000 }), double({ min: 0, max: 300, noNaN: true }))
const rangeOf = (bounds: Bounds, bucket: number): [number, number] => [
  bounds[bucket - 1] ?? 0,
  bounds[bucket] ?? Infinity,
]

describe('a histogram', () => {
  test('puts each value into the bucket whose bounds enclose it', () => {
    assert(
      property(histogram, time, (one, ms) => {
        const [from, to] = rangeOf(one, bucketOf(one, ms))
        expect(ms >= from && ms < to).toBe(true)
      }),
    )
    expect(bucketOf(DELAYS, -5)).toBe(0)
  })

  test('estimates each percentile in the bucket of the true value, and in order', () => {
    assert(
      property(histogram, array(time, { minLength: 1, maxLength: 200 }), (one, values) => {
        const counts = one.map(() => 0).concat(0)
        for (const value of values) counts[bucketOf(one, value)] = (counts[bucketOf(one, value)] ?? 0) + 1
        const estimate = percentilesOf(one, counts)
        const sorted = values.toSorted((a, b) => a - b)
        for (const [share, guess] of [
          [0.5, estimate?.p50],
          [0.95, estimate?.p95],
          [0.99, estimate?.p99],
        ] as const) {
          const truth = sorted[Math.ceil(share * sorted.length) - 1] ?? 0
          const [from, to] = rangeOf(one, bucketOf(one, truth))
          expect((guess ?? -1) >= Math.min(from, one.at(-1) ?? 0) && (guess ?? -1) <= to).toBe(true)
        }
        expect((estimate?.p50 ?? 0) <= (estimate?.p95 ?? 0) && (estimate?.p95 ?? 0) <= (estimate?.p99 ?? 0)).toBe(true)
      }),
    )
  })

  test('without values has no percentiles', () => {
    expect(percentilesOf(ANSWER_TIMES, [0, 0])).toBeNull()
  })

  test('has as many buckets as there are letters to name them', () => {
    for (const bounds of [ANSWER_TIMES, DELAYS]) {
      expect(bounds.length + 1).toBeLessThanOrEqual(26)
      expect(bounds).toEqual(bounds.toSorted((a, b) => a - b))
    }
  })
})

const attempts = array(
  record({
    outcome: constantFrom<Attempt['outcome']>('delivered', 'answered', 'timeout', 'refused', 'unusable-url'),
    status: integer({ min: 300, max: 999 }),
    durationMs: time,
    delayMs: oneof(time, constantFrom(null)),
  }).map(({ outcome, status, ...rest }) => ({
    ...rest,
    outcome,
    status: outcome === 'delivered' ? 204 : outcome === 'answered' ? status : null,
  })),
)

function countsOf(made: readonly (Pick<Attempt, 'outcome' | 'status' | 'durationMs'> & { delayMs: number | null })[]) {
  const counts: Counts = new Map()
  for (const { delayMs, ...attempt } of made) countAttempt(counts, attempt, delayMs)
  return counts
}

describe('counts', () => {
  test('are the same after they were stored', () => {
    assert(
      property(attempts, (made) => {
        const read: Counts = new Map()
        addStored(read, formatCounts(countsOf(made)))
        expect(read).toEqual(countsOf(made))
      }),
    )
  })

  test('of two parts, added in either order, are the counts of the whole', () => {
    assert(
      property(attempts, attempts, (one, other) => {
        const there = countsOf(one)
        addCounts(there, countsOf(other))
        const back = countsOf(other)
        addStored(back, formatCounts(countsOf(one)))
        expect(there).toEqual(countsOf([...one, ...other]))
        expect(figuresOf(back)).toEqual(figuresOf(there))
      }),
    )
  })

  test('add up: each attempt has one outcome', () => {
    assert(
      property(attempts, (made) => {
        const { attempts: number, byOutcome, acknowledged } = figuresOf(countsOf(made))
        expect(number).toBe(made.length)
        expect(Object.values(byOutcome).reduce((sum, count) => sum + count, 0)).toBe(made.length)
        expect(acknowledged).toBe(made.filter(({ outcome }) => outcome === 'delivered').length)
      }),
    )
  })

  test.each([
    [{ outcome: 'delivered', status: 200 }, 'delivered'],
    [{ outcome: 'answered', status: 503 }, '503'],
    [{ outcome: 'answered', status: 418 }, '4xx'],
    [{ outcome: 'answered', status: 599 }, '5xx'],
    [{ outcome: 'answered', status: 999 }, 'other'],
    [{ outcome: 'timeout', status: null }, 'timeout'],
  ] as const)('of %j have the code %s', (attempt, code) => {
    const { byOutcome } = figuresOf(countsOf([{ ...attempt, durationMs: 1, delayMs: null }]))
    expect(byOutcome).toEqual({ [code]: 1 })
  })

  test('have answer times of answers and of timeouts, but not of refused connections', () => {
    const answerMs = (outcome: Attempt['outcome'], status: number | null) =>
      figuresOf(countsOf([{ outcome, status, durationMs: 40, delayMs: null }])).answerMs
    expect(answerMs('answered', 500)).toEqual({ p50: 40, p95: 49, p99: 49.8 })
    expect(answerMs('timeout', null)).not.toBeNull()
    expect(answerMs('refused', null)).toBeNull()
  })

  test('of unknown names, which a later version stores, are skipped', () => {
    const counts: Counts = new Map()
    addStored(counts, '.a2?7^Z1')
    countEnd(counts, 'parked')
    countEnd(counts, 'expired')
    expect(figuresOf(counts)).toEqual({
      attempts: 2,
      acknowledged: 2,
      byOutcome: { delivered: 2 },
      parked: 1,
      expired: 1,
      answerMs: null,
      delayMs: null,
    })
  })

  test('keep the names that are stored', () => {
    // A literal, because a name that changed its meaning would falsify what is stored.
    const counts = countsOf([
      { outcome: 'delivered', status: 204, durationMs: 12, delayMs: 4 },
      { outcome: 'delivered', status: 204, durationMs: 12, delayMs: null },
      { outcome: 'answered', status: 503, durationMs: 200_000, delayMs: 10_000_000 },
    ])
    countEnd(counts, 'parked')
    expect(formatCounts(counts)).toBe('.a2g2D1.J1z1Z1!1')
  })
})
