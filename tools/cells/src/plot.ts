/** One curve: the load of each cell, as a multiple of its planned load. */
export interface Curve {
  readonly name: string
  readonly loads: readonly number[]
}

const INK = '#0f172a'
const FAINT = '#475569'
const COLOURS = ['#b45309', '#94a3b8', '#3b6fd4'] as const

const WIDTH = 720
const PLOT = { left: 64, right: 24, top: 56, height: 200 } as const
const BOTTOM = PLOT.top + PLOT.height
/** The vertical axis is logarithmic, because one undivided tenant can outweigh many cells. */
const TICKS = [0.25, 0.5, 1, 2, 4, 8, 16, 32] as const

/** Draws the cells from the fullest to the emptiest, with a line at the planned load. */
export function plotCells(title: string, curves: readonly Curve[]): string {
  const most = Math.max(1, ...curves.flatMap(({ loads }) => loads))
  const ticks = TICKS.filter((tick) => tick < 2 * most)
  const [low, high] = [ticks[0] ?? 1, ticks.at(-1) ?? 1]
  const y = (load: number): number =>
    Math.round(BOTTOM - (Math.log(Math.max(low, load) / low) / Math.log(high / low)) * PLOT.height)
  const cells = Math.max(...curves.map(({ loads }) => loads.length))
  const x = (rank: number): number =>
    Math.round(PLOT.left + (rank / Math.max(1, cells - 1)) * (WIDTH - PLOT.left - PLOT.right))

  const grid = ticks.map((tick) => {
    const isPlan = tick === 1
    return `  <line x1="${PLOT.left}" y1="${y(tick)}" x2="${WIDTH - PLOT.right}" y2="${y(tick)}" stroke="${isPlan ? INK : '#e2e8f0'}"${isPlan ? ' stroke-dasharray="4 4"' : ''}/>
  <text x="${PLOT.left - 8}" y="${y(tick) + 5}" text-anchor="end" fill="${FAINT}">${tick} ×</text>`
  })
  const lines = curves.map(({ name, loads }, at) => {
    const colour = COLOURS[at % COLOURS.length]
    const path = loads
      .toSorted((a, b) => b - a)
      .map((load, rank) => `${x(rank)},${y(load)}`)
      .join(' ')
    const legendX = PLOT.left + at * 215
    return `  <polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>
  <rect x="${legendX}" y="${BOTTOM + 36}" width="14" height="4" fill="${colour}"/>
  <text x="${legendX + 20}" y="${BOTTOM + 43}" fill="${INK}">${name}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${BOTTOM + 60}" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="14" role="img" aria-labelledby="title">
  <title id="title">${title}</title>
  <rect width="${WIDTH}" height="${BOTTOM + 60}" fill="#ffffff"/>
  <text x="${PLOT.left}" y="30" font-weight="600" fill="${INK}">load of each cell, as a multiple of its planned load</text>
${[...grid, ...lines].join('\n')}
  <text x="${PLOT.left}" y="${BOTTOM + 20}" fill="${FAINT}">the fullest of ${cells} cells</text>
  <text x="${WIDTH - PLOT.right}" y="${BOTTOM + 20}" text-anchor="end" fill="${FAINT}">the emptiest</text>
</svg>
`
}
