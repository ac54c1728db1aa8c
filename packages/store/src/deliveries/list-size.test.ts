import { listSizeOf } from './list-size.ts'

test.each([
  [1_000, 0, 1_000],
  [1_000, 1, 1_000],
  [1_000, 1_000, 1_000],
  [1_000, 1_001, 999],
  [1_000, 100_000, 10],
  [1_000, 10_000_000, 1],
  [5, 100_000, 5],
  [1_000_000, 10, 100_000],
])(
  'of at most %d deliveries, the lists of a tenant with %d subscriptions keep %d each',
  (most, subscriptions, size) => {
    expect(listSizeOf(most, subscriptions)).toBe(size)
  },
)
