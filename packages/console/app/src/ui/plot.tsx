import { lazy, Suspense } from 'react'
import { Loading } from './parts.tsx'

export interface Series {
  readonly label: string
  readonly values: readonly (number | null)[]
  readonly tone: 'accent' | 'good' | 'warn' | 'bad' | 'quiet'
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

/** The plot library is loaded when the first plot is shown. */
const Canvas = lazy(() => import('./plot-canvas.tsx').then(({ PlotCanvas }) => ({ default: PlotCanvas })))

export function Plot(props: PlotProps) {
  return (
    <div className="plot">
      <div role="img" aria-label={props.summary}>
        <Suspense fallback={<Loading />}>
          <Canvas {...props} />
        </Suspense>
      </div>
      {props.bands !== undefined && props.bands.length > 0 && (
        <p className="plot-key">
          <span className="band-key" /> Cool-down: nothing is sent to the endpoint.
        </p>
      )}
    </div>
  )
}
