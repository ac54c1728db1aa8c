import { median, percentile, slope, spreadOf } from './statistics.ts'

test.each<[number[], number, number]>([
  [[], 0.5, 0],
  [[7], 0.99, 7],
  [[3, 1, 2], 0.5, 2],
  [[1, 2, 3, 4], 0.5, 2],
  [Array.from({ length: 100 }, (_, at) => at + 1), 0.99, 99],
])('of %j, the part %d lies below %d', (values, part, expected) => {
  expect(percentile(values, part)).toBe(expected)
})

test('one outlier does not move the median', () => {
  expect(median([10, 11, 900])).toBe(11)
})

test('a spread has count, median and 99th percentile', () => {
  expect(spreadOf(Array.from({ length: 200 }, (_, at) => at + 1.04))).toEqual({ count: 200, p50Ms: 100, p99Ms: 198 })
})

test.each<[string, [number, number][], number]>([
  ['nothing', [], 0],
  ['one point', [[1, 5]], 0],
  [
    'points above each other',
    [
      [1, 5],
      [1, 9],
    ],
    0,
  ],
  [
    'a straight line',
    [
      [0, 1],
      [1, 3],
      [2, 5],
    ],
    2,
  ],
  [
    'a saw',
    [
      [0, 4],
      [1, 6],
      [2, 4],
      [3, 6],
      [4, 4],
    ],
    0,
  ],
])('the slope of %s', (_name, points, expected) => {
  expect(slope(points)).toBeCloseTo(expected)
})
