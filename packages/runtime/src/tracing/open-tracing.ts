import type { TracingConfig } from '../config/common-fields.ts'
import type { Logger } from '../logger.ts'
import { createContextOnly, type Tracing } from './tracing.ts'

/** Exports spans to the configured endpoint. Without an endpoint no OpenTelemetry SDK is loaded. */
export async function openTracing(options: {
  readonly config: TracingConfig
  readonly service: string
  readonly log: Logger
}): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = options.config
  if (endpoint === undefined && traces === undefined) return createContextOnly()
  const { createOtlpTracing } = await import('./otlp-tracing.ts')
  return createOtlpTracing(options)
}
