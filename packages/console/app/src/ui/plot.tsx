import { lazy, Suspense } from 'react'
import { Loading } from './parts.tsx'

export interface Series {
  readonly label: string
  readonly values: readonly (number | null)[]
  readonly tone: 'accent' | 'good' | 'warn' | 'bad' | 'quiet'
  readonly isFilled?: boolean
  readonly isDashed?: boolean
}

/** A period that is shown as a band, such as a cool-down. In ms since 1970. */
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
  readonly format: (value: number) => string
  readonly bands?: readonly Band[]
}

/** The plot library is loaded when the first plot is shown. */
const Canvas = lazy(() => import('./plot-canvas.tsx').then(({ PlotCanvas }) => ({ default: PlotCanvas })))

export function Plot(props: PlotProps) {
  return (
    <figure className="plot" aria-label={props.summary} role="img">
      <Suspense fallback={<Loading />}>
        <Canvas {...props} />
      </Suspense>
    </figure>
  )
}
