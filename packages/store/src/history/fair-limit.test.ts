import fc from 'fast-check'
import { fairLimit } from './tenant-parked.ts'

describe('the limit of each subscription', () => {
  test.each([
    { name: 'nothing is parked', counts: [], perSubscription: 10, perTenant: 20, expected: 10 },
    { name: 'all fit', counts: [3, 4], perSubscription: 10, perTenant: 20, expected: 10 },
    { name: 'one is over its own limit', counts: [3, 40], perSubscription: 10, perTenant: 20, expected: 10 },
    {
      name: 'the tenant is over its limit: the largest subscriptions are trimmed',
      counts: [3, 40, 50],
      perSubscription: 30,
      perTenant: 23,
      expected: 10,
    },
    { name: 'many small ones', counts: [5, 5, 5, 5], perSubscription: 10, perTenant: 8, expected: 2 },
    {
      name: 'more subscriptions than the tenant may keep',
      counts: [5, 5, 5],
      perSubscription: 10,
      perTenant: 2,
      expected: 1,
    },
  ])('$name: each may keep $expected', ({ counts, perSubscription, perTenant, expected }) => {
    expect(fairLimit(counts, { perSubscription, perTenant })).toBe(expected)
  })

  const someCounts = fc.array(fc.nat(200), { maxLength: 12 })
  const someLimits = fc.record({
    perSubscription: fc.integer({ min: 1, max: 100 }),
    perTenant: fc.integer({ min: 1, max: 400 }),
  })
  const kept = (counts: readonly number[], limit: number): number =>
    counts.reduce((sum, count) => sum + Math.min(count, limit), 0)

  test('a tenant stays within its limit, unless it has more subscriptions than that', () => {
    fc.assert(
      fc.property(someCounts, someLimits, (counts, limits) => {
        const limit = fairLimit(counts, limits)
        return limit === 1 || kept(counts, limit) <= limits.perTenant
      }),
    )
  })

  test('no more is trimmed than needed: one more per subscription would exceed the limit', () => {
    fc.assert(
      fc.property(someCounts, someLimits, (counts, limits) => {
        const limit = fairLimit(counts, limits)
        return limit === limits.perSubscription || kept(counts, limit + 1) > limits.perTenant
      }),
    )
  })
})
