import { choice, described, fraction, optional, url } from '../config/fields.ts'

/**
 * The standard variables that decide whether and what is exported; the exporter reads the others (headers, certificates,
 * timeout, resource attributes) itself. https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export const tracingFields = {
  OTEL_EXPORTER_OTLP_ENDPOINT: described(
    'Where spans are sent, such as `http://collector:4318` ([tracing](tracing.md)). Unset: tracing is off.',
    optional(url(['http', 'https'])),
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: described(
    'The same with its path, such as `http://collector:4318/v1/traces`.',
    optional(url(['http', 'https'])),
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: described('The only supported protocol.', choice(['http/json'], 'http/json')),
  OTEL_TRACES_SAMPLER: described(
    'Which traces are exported: one of the samplers that OpenTelemetry names.',
    choice(
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
  ),
  OTEL_TRACES_SAMPLER_ARG: described(
    'The share of traces that the `traceidratio` samplers export, 0 to 1.',
    fraction(1),
  ),
}
