import { startReceiver } from './receiver.ts'

/** A span as a collector gets it, with what the tests ask about. */
export interface CollectedSpan {
  readonly service: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  readonly traceId: string
  readonly spanId: string
  /** Absent: a trace begins here. */
  readonly parentSpanId?: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isError: boolean
}

export interface TraceCollector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly endpoint: string
  /** Everything so far, or of one trace. */
  spans(traceId?: string): readonly CollectedSpan[]
  close(): Promise<void>
}

/** https://opentelemetry.io/docs/specs/otlp/#otlphttp in its JSON form, as far as it is read here. */
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
  /** By one member that names its type: `stringValue`, `intValue`, `doubleValue`, `boolValue`. */
  readonly value: Readonly<Record<string, unknown>>
}

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const
const ERROR = 2

/** Takes spans over OTLP/HTTP, as JSON, on loopback; on a free port, unless one is named. */
export async function startTraceCollector(options: { readonly port?: number } = {}): Promise<TraceCollector> {
  const receiver = await startReceiver(
    { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' },
    options,
  )
  const all = (): CollectedSpan[] =>
    receiver.requests('/v1/traces').flatMap(({ body }) => spansOf(JSON.parse(body.toString()) as ExportRequest))
  return {
    endpoint: receiver.url('').replace(/\/$/, ''),
    spans: (traceId) => all().filter((span) => traceId === undefined || span.traceId === traceId),
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
