import { compareResults } from './compare-results.ts'
import type { Results } from './results.ts'

const taken = (p50Ms: number, ratio: number) =>
  ({
    latency: {
      figure: {
        loads: {
          event: { ours: { p50Ms, p99Ms: 10 }, hops: { p50Ms: 1, p99Ms: 10 } },
          presence: { ours: { p50Ms: 1, p99Ms: 1 }, hops: { p50Ms: 1, p99Ms: 1 } },
        },
      },
    },
    commands: { figure: { byClients: [{ clients: 32, ratio }] } },
  }) as unknown as Results

test('compares the medians of the turns, where less is better and where more is', () => {
  const before = [taken(9, 0.1), taken(2, 0.1), taken(2, 0.3)]
  const after = [taken(2.1, 0.2), taken(1, 0.2), taken(9, 0.2)]
  const rows = compareResults(before, after)
  expect(rows).toContainEqual(expect.objectContaining({ before: 2, after: 2.1, worse: 5 }))
  expect(rows).toContainEqual(expect.objectContaining({ before: 0.1, after: 0.2, worse: -50 }))
})

test('leaves out what only one of the versions measures', () => {
  expect(compareResults([{}], [taken(1, 1)])).toEqual([])
  expect(compareResults([taken(1, 1)], [{}])).toEqual([])
})
