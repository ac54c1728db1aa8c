import { lazy, Suspense } from 'react'
import { Loading } from './parts.tsx'
import type { PlotProps } from './plot-props.ts'

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
