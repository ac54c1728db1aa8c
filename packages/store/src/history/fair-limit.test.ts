import fc from 'fast-check'
import { fairLimit } from './tenant-parked.ts'

describe('the limit of each subscription', () => {
  test.each([
    { name: 'nothing is parked', counts: [], most: 20, expected: 20 },
    { name: 'all fit', counts: [3, 4], most: 20, expected: 20 },
    { name: 'only the largest are trimmed', counts: [3, 40, 50], most: 23, expected: 10 },
    { name: 'many small ones', counts: [5, 5, 5, 5], most: 8, expected: 2 },
    { name: 'more subscriptions than are read', counts: [5, 5, 5], most: 2, expected: 1 },
  ])('$name: of each, $expected are read', ({ counts, most, expected }) => {
    expect(fairLimit(counts, most)).toBe(expected)
  })

  const someCounts = fc.array(fc.nat(200), { maxLength: 12 })
  const someLimit = fc.integer({ min: 1, max: 400 })
  const kept = (counts: readonly number[], limit: number): number =>
    counts.reduce((sum, count) => sum + Math.min(count, limit), 0)

  test('a tenant stays within the limit, unless it has more subscriptions than that', () => {
    fc.assert(
      fc.property(someCounts, someLimit, (counts, most) => {
        const limit = fairLimit(counts, most)
        return limit === 1 || kept(counts, limit) <= most
      }),
    )
  })

  test('no more is trimmed than needed: one more per subscription would exceed the limit', () => {
    fc.assert(
      fc.property(someCounts, someLimit, (counts, most) => {
        const limit = fairLimit(counts, most)
        return limit === most || kept(counts, limit + 1) > most
      }),
    )
  })
})
