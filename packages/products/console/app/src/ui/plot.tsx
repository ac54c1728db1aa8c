import { lazyRouteComponent } from '@tanstack/react-router'
import { Suspense } from 'react'
import type { StatisticsPoint } from '../api/model.ts'
import { loadLate } from '../late-files.ts'
import { Loading } from './parts.tsx'
import type { PlotProps, Series } from './plot-canvas.tsx'

/** The plot library is loaded when the first plot is shown. */
const Canvas = lazyRouteComponent(() => loadLate(() => import('./plot-canvas.tsx')), 'PlotCanvas')

export const Plot = (props: PlotProps) => (
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

export const attemptSeries = (points: readonly StatisticsPoint[]): readonly Series[] => [
  { label: 'Acknowledged', values: points.map(({ acknowledged }) => acknowledged), colour: 'accent', isFilled: true },
  { label: 'Failed', values: points.map(({ attempts, acknowledged }) => attempts - acknowledged), colour: 'bad' },
]
