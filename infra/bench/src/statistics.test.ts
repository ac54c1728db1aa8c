import { median, percentile } from './statistics.ts'

test.each<[number[], number, number]>([
  [[], 0.5, 0],
  [[7], 0.99, 7],
  [[3, 1, 2], 0.5, 2],
  [[1, 2, 3, 4], 0.5, 2],
  [Array.from({ length: 100 }, (_, at) => at + 1), 0.99, 99],
])('of %j, the part %d lies below %d', (values, part, expected) => {
  expect(percentile(values, part)).toBe(expected)
})

test('one wild run does not move the median', () => {
  expect(median([10, 11, 900])).toBe(11)
})
