import type { Config } from '../config/config.ts'
import type { Logger } from '../logger.ts'
import { createContextOnly, type Tracing } from './tracing.ts'
import type { tracingFields } from './tracing-fields.ts'

export type TracingConfig = Config<typeof tracingFields>

/** Spans go to the endpoint that is configured. Without one nothing of OpenTelemetry is loaded. */
export async function openTracing(options: {
  readonly config: TracingConfig
  readonly service: string
  readonly log: Logger
}): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces } = options.config
  if (endpoint === undefined && ofTraces === undefined) return createContextOnly()
  const { createOtlpTracing } = await import('./otlp-tracing.ts')
  return createOtlpTracing(options)
}
