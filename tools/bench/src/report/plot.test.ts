import { plotBars, plotLines, roundUp } from './plot.ts'

test.each([
  [1, 1],
  [3, 4],
  [45, 50],
  [333, 400],
  [801, 1_000],
])('an axis for %d ends at %d', (value, end) => {
  expect(roundUp(value)).toBe(end)
})

test('the longest bar is the highest value, and every bar is visible', () => {
  const svg = plotBars('a title', 'less is better', [
    { name: 'one', value: 5_000, isOurs: false },
    { name: 'two', value: 1, isOurs: true },
  ])
  expect([...svg.matchAll(/<rect x="260" y="\d+" width="(\d+)"/g)].map(([, width]) => Number(width))).toEqual([360, 2])
  expect(svg).toContain('<title id="title">a title</title>')
})

test('a line begins at its first point and ends at its last, high values up', () => {
  const lines = [
    {
      name: 'one',
      points: [
        [0, 0],
        [10, 100],
      ] as const,
    },
  ]
  const svg = plotLines('a title', 'MiB', lines, { from: 5, to: 10, name: 'a band' })
  expect(svg).toContain('<polyline points="64,236 696,56"')
  expect([...svg.matchAll(/>(\d+) s</g)].map(([, second]) => second)).toEqual(['0', '2', '4', '6', '8', '10'])
  expect(svg).toContain('<rect x="380" y="56" width="316"')
})
