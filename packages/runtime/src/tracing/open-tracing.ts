import type { TracingConfig } from '../config/common-fields.ts'
import type { TracingOptions } from './otlp-tracing.ts'
import { createContextOnly, type Tracing } from './span.ts'

/** Exports spans to the configured endpoint. Without an endpoint no OpenTelemetry SDK is loaded. */
export async function openTracing(options: TracingOptions): Promise<Tracing> {
  if (!isExporting(options.config)) return createContextOnly()
  const { openOtlpTracing } = await import('./otlp-tracing.ts')
  return openOtlpTracing(options)
}

const isExporting = (config: TracingConfig): boolean =>
  !config.OTEL_SDK_DISABLED &&
  config.OTEL_TRACES_EXPORTER !== 'none' &&
  (config.OTEL_EXPORTER_OTLP_ENDPOINT ?? config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined
