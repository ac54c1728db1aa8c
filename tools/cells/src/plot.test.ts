import { plotCells } from './plot.ts'

test('the fullest cell is first, and the planned load is a dashed line', () => {
  const svg = plotCells('a title', [{ name: 'one', loads: [0.5, 4, 1] }])
  expect(svg).toContain('<polyline points="64,56 380,156 696,206"')
  expect(svg).toContain('the fullest of 3 cells')
  expect(svg.match(/stroke-dasharray/g)).toHaveLength(1)
})
