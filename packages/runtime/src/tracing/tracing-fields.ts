import { choice, fraction, optional, url } from '../fields.ts'

/**
 * The standard variables that decide whether and what is exported; the exporter reads the others (headers, certificates,
 * timeout, resource attributes) itself. https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export const tracingFields = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(url(['http', 'https'])),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(url(['http', 'https'])),
  OTEL_EXPORTER_OTLP_PROTOCOL: choice(['http/json'], 'http/json'),
  OTEL_TRACES_SAMPLER: choice(
    [
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ],
    'parentbased_always_on',
  ),
  OTEL_TRACES_SAMPLER_ARG: fraction(1),
}
