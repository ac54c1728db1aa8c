import { createContextOnly, type Tracing, type TracingOptions } from './tracing.ts'

/** Exports spans to the configured endpoint. Without an endpoint no OpenTelemetry SDK is loaded. */
export async function openTracing(options: TracingOptions): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces } = options.config
  if (endpoint === undefined && traces === undefined) return createContextOnly()
  const { createOtlpTracing } = await import('./otlp-tracing.ts')
  return createOtlpTracing(options)
}
