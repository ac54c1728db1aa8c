import { startReceiver } from './receiver.ts'

/** A span as a collector receives it, reduced to the fields that tests need. */
export interface CollectedSpan {
  readonly service: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  readonly traceId: string
  readonly spanId: string
  /** Absent in the root span of a trace. */
  readonly parentSpanId?: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isError: boolean
}

export type TraceCollector = Awaited<ReturnType<typeof startTraceCollector>>

/** An export request in JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp), reduced to the fields read here. */
interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

interface OtlpSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly KeyValue[]
  readonly status: { readonly code?: number }
}

interface KeyValue {
  readonly key: string
  /** One field, named after its type: `stringValue`, `intValue`, `doubleValue` or `boolValue`. */
  readonly value: Readonly<Record<string, unknown>>
}

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const
const ERROR = 2

/** Starts a collector for OTLP/HTTP in JSON on loopback, on a free port unless one is given. */
export async function startTraceCollector(options: { readonly port?: number } = {}) {
  const receiver = await startReceiver(
    { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' },
    options,
  )
  const all = (): CollectedSpan[] =>
    receiver.requests('/v1/traces').flatMap(({ body }) => spansOf(JSON.parse(body.toString()) as ExportRequest))
  return {
    /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
    endpoint: receiver.url('').replace(/\/$/, ''),
    /** All spans so far, or those of one trace. */
    spans: (traceId?: string): readonly CollectedSpan[] =>
      all().filter((span) => traceId === undefined || span.traceId === traceId),
    close: () => receiver.close(),
  }
}

const spansOf = ({ resourceSpans }: ExportRequest): CollectedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, kind, traceId, spanId, parentSpanId, attributes, status }) => ({
        service: String(recordOf(resource.attributes)['service.name']),
        name,
        kind: KINDS[kind] ?? 'internal',
        traceId,
        spanId,
        ...(parentSpanId !== undefined && { parentSpanId }),
        attributes: recordOf(attributes),
        isError: status.code === ERROR,
      })),
    ),
  )

const recordOf = (attributes: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
