import { Backoff } from './backoff.ts'

test('waits double up to the longest, and a success starts them anew', () => {
  const backoff = new Backoff(1_000, 5_000)
  expect([backoff.nextMs(), backoff.nextMs(), backoff.nextMs(), backoff.nextMs(), backoff.nextMs()]).toEqual([
    1_000, 2_000, 4_000, 5_000, 5_000,
  ])
  backoff.reset()
  expect(backoff.nextMs()).toBe(1_000)
})
