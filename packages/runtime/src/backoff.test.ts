import { backoffMs } from './poll.ts'

test('waits double up to the longest, for any number of retries', () => {
  const waits = [0, 1, 2, 3, 4, 5_000].map((retry) => backoffMs(retry, 1_000, 5_000))
  expect(waits).toEqual([1_000, 2_000, 4_000, 5_000, 5_000, 5_000])
})
