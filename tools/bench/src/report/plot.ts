export interface Bar {
  readonly name: string
  readonly value: number
  readonly isOurs: boolean
}

export interface Line {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

/** A shaded time range of a line plot. */
export interface Band {
  readonly from: number
  readonly to: number
  readonly name: string
}

const INK = '#0f172a'
const FAINT = '#475569'
const OURS = '#3b6fd4'
const OTHERS = '#94a3b8'
const LINES = [OURS, '#0d9488', '#b45309', '#7c3aed'] as const

const WIDTH = 720
const PLOT = { left: 64, right: 24, top: 56, height: 180 } as const

function svg(
  title: string,
  height: number,
  heading: { readonly x: number; readonly text: string },
  rows: string,
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="14" role="img" aria-labelledby="title">
  <title id="title">${title}</title>
  <rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
  <text x="${heading.x}" y="30" font-weight="600" fill="${INK}">${heading.text}</text>
${rows}
</svg>
`
}

/** Horizontal bars with their values. */
export function plotBars(title: string, heading: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value))
  const rows = bars.map(({ name, value, isOurs }, at) => {
    const y = 50 + at * 44
    const width = Math.max(2, Math.round((value / most) * 360))
    return `  <text x="250" y="${y + 19}" text-anchor="end" fill="${INK}">${name}</text>
  <rect x="260" y="${y}" width="${width}" height="28" rx="4" fill="${isOurs ? OURS : OTHERS}"/>
  <text x="${270 + width}" y="${y + 19}" fill="${FAINT}">${value}</text>`
  })
  return svg(title, 60 + bars.length * 44, { x: 260, text: heading }, rows.join('\n'))
}

/** Lines over seconds, both axes from 0, with a shaded band. */
export function plotLines(title: string, heading: string, lines: readonly Line[], band: Band): string {
  const points = lines.flatMap(({ points: own }) => own)
  const mostX = Math.max(1, ...points.map(([x]) => x))
  const mostY = roundUp(Math.max(1, ...points.map(([, y]) => y)))
  const bottom = PLOT.top + PLOT.height
  const x = (value: number): number => Math.round(PLOT.left + (value / mostX) * (WIDTH - PLOT.left - PLOT.right))
  const y = (value: number): number => Math.round(bottom - (value / mostY) * PLOT.height)
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = y(part * mostY)
    return `  <line x1="${PLOT.left}" y1="${at}" x2="${WIDTH - PLOT.right}" y2="${at}" stroke="#e2e8f0"/>
  <text x="${PLOT.left - 8}" y="${at + 5}" text-anchor="end" fill="${FAINT}">${Number((part * mostY).toFixed(2))}</text>`
  })
  const step = roundUp(mostX / 5)
  const times = Array.from({ length: Math.floor(mostX / step) + 1 }, (_, at) => at * step).map(
    (second) =>
      `  <text x="${x(second)}" y="${bottom + 20}" text-anchor="middle" fill="${FAINT}">${Number(second.toFixed(2))} s</text>`,
  )
  const curves = lines.map(({ name, points: own }, at) => {
    const colour = LINES[at % LINES.length] ?? OURS
    const path = own.map(([px, py]) => `${x(px)},${y(py)}`).join(' ')
    const legendX = PLOT.left + at * 180
    return `  <polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>
  <rect x="${legendX}" y="${bottom + 36}" width="14" height="4" fill="${colour}"/>
  <text x="${legendX + 20}" y="${bottom + 43}" fill="${INK}">${name}</text>`
  })
  const shade = `  <rect x="${x(band.from)}" y="${PLOT.top}" width="${x(band.to) - x(band.from)}" height="${PLOT.height}" fill="#f1f5f9"/>
  <text x="${x(band.from) + 8}" y="${bottom - 8}" fill="${FAINT}">${band.name}</text>`
  return svg(title, bottom + 60, { x: PLOT.left, text: heading }, [shade, ...grid, ...times, ...curves].join('\n'))
}

/** Rounds up to 1, 2, 4, 5 or 8 times a power of ten, so that the axis labels are short numbers. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 5, 8].find((step) => step * power >= value) ?? 10) * power
}
