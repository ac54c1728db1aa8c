import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { axisMoment, count, duration } from '../rules/words.ts'

export interface Series {
  readonly label: string
  readonly values: readonly (number | null)[]
  /** The name of a colour in `tokens.css`. */
  readonly colour: 'accent' | 'warn' | 'bad' | 'line-strong'
  readonly isFilled?: boolean
  readonly isDashed?: boolean
}

/** A cool-down, shown as a band. In ms since 1970. */
export interface Band {
  readonly fromMs: number
  readonly toMs: number
}

export interface PlotProps {
  /** Read to a screen reader: what the plot shows, with its latest values. */
  readonly summary: string
  /** ISO 8601. */
  readonly times: readonly string[]
  readonly series: readonly Series[]
  /** `duration`: in ms. */
  readonly unit: 'count' | 'duration'
  readonly bands?: readonly Band[]
}

const HEIGHT_PX = 180
/** A short cool-down in a long period stays visible. */
const MIN_BAND_PX = 3
const AXIS_HEIGHT_PX = 30
const AXIS_WIDTH_PX = 56

/** Steps of the vertical axis: whole numbers, or times that people count in. */
const STEPS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].flatMap((power) => [power, 2 * power, 5 * power])
const UNITS = {
  count: { format: count, incrs: STEPS },
  duration: {
    format: duration,
    incrs: [
      ...STEPS.filter((step) => step <= 5_000),
      ...[10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400].map((seconds) => seconds * 1_000),
    ],
  },
} as const

export function PlotCanvas({ times, series, unit, bands }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const { format, incrs } = UNITS[unit]
    const spanMs = Date.parse(times.at(-1) ?? '') - Date.parse(times[0] ?? '')
    const stepSeconds = times.length < 2 ? 0 : spanMs / (times.length - 1) / 1_000
    const draw = (): UPlot =>
      new UPlot(
        {
          width: element.clientWidth,
          height: HEIGHT_PX,
          legend: { live: false },
          cursor: { points: { show: false }, drag: { x: false, y: false } },
          scales: {
            // The last point stands for the minute or hour that begins there.
            x: { range: (_plot, min, max) => [min, max + stepSeconds] },
            y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
          },
          axes: [
            {
              ...axis(),
              size: AXIS_HEIGHT_PX,
              values: (_plot, ticks) => ticks.map((at) => axisMoment(at * 1_000, spanMs)),
            },
            { ...axis(), size: AXIS_WIDTH_PX, incrs: [...incrs], values: (_plot, ticks) => ticks.map(format) },
          ],
          series: [{}, ...series.map(seriesOf)],
          hooks: { drawClear: [(plot) => drawBands(plot, bands ?? [])] },
        },
        [times.map((at) => Date.parse(at) / 1_000), ...series.map(({ values }) => [...values])],
        element,
      )
    let plot = draw()
    const redraw = (): void => {
      plot.destroy()
      plot = draw()
    }
    const resize = new ResizeObserver(() => {
      if (element.clientWidth !== plot.width) plot.setSize({ width: element.clientWidth, height: HEIGHT_PX })
    })
    resize.observe(element)
    const scheme = window.matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    return () => {
      resize.disconnect()
      scheme.removeEventListener('change', redraw)
      plot.destroy()
    }
  }, [times, series, unit, bands])
  return <div ref={frame} className="plot-frame" />
}

/** A canvas cannot resolve `light-dark()`, so an element of the page resolves it. */
function resolved(colour: string): string {
  const probe = document.body.appendChild(document.createElement('i'))
  probe.style.color = colour
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const axis = (): UPlot.Axis => ({
  stroke: resolved('var(--muted)'),
  grid: { stroke: resolved('var(--line)'), width: 1 },
  ticks: { show: false },
  font: '12px system-ui, sans-serif',
})

/** The positions of values without a neighbour, which a line would not show. */
const loneValues = (values: ArrayLike<number | null | undefined>): number[] =>
  Array.from(values, (_value, at) => at).filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  )

const seriesOf = ({ label, colour, isFilled, isDashed }: Series): UPlot.Series => ({
  label,
  stroke: resolved(`var(--${colour})`),
  width: 1.5,
  points: { show: false, size: 5, filter: (plot, index) => loneValues(plot.data[index] ?? []) },
  ...(isFilled === true && { fill: resolved(`color-mix(in srgb, var(--${colour}) 15%, transparent)`) }),
  ...(isDashed === true && { dash: [6, 4] }),
})

function drawBands(plot: UPlot, bands: readonly Band[]): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.fillStyle = resolved('color-mix(in srgb, var(--bad) 12%, transparent)')
  for (const { fromMs, toMs } of bands) {
    const left = Math.max(plot.valToPos(fromMs / 1_000, 'x', true), bbox.left)
    const right = Math.min(plot.valToPos(toMs / 1_000, 'x', true), bbox.left + bbox.width)
    if (right > left) ctx.fillRect(left, bbox.top, Math.max(right - left, MIN_BAND_PX * devicePixelRatio), bbox.height)
  }
  ctx.restore()
}
