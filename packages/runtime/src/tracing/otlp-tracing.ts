import { hostname } from 'node:os'
import { type Context, ROOT_CONTEXT, type Span as SdkSpan, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { readTraceparent, traceIdOf } from '@switchhook/contracts'
import type { TracingConfig } from '../config/common-fields.ts'
import { answerWithin } from '../deadline.ts'
import type { Logger } from '../logger.ts'
import type { Span, SpanStart, Tracing } from './span.ts'

export interface TracingOptions {
  readonly config: TracingConfig
  readonly service: string
  readonly log: Logger
}

/** Spans that are queued for the collector, about 1 KB each. Further spans are dropped. */
const MAX_QUEUED = 8_192
const SEND_EVERY_MS = 1_000
/** A small part of any sensible SHUTDOWN_GRACE, which is meant for the deliveries in flight. */
const CLOSE_TIMEOUT_MS = 3_000

/** OpenTelemetry with its own provider: registers nothing globally and patches no library. */
export async function openOtlpTracing({ config, service, log }: TracingOptions): Promise<Tracing> {
  const exporter = await EXPORTERS[config.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? config.OTEL_EXPORTER_OTLP_PROTOCOL]()
  const random = new RandomIdGenerator()
  /** The id of the next trace. Set directly before its span is started, in the same tick. */
  let chosenId: string | undefined
  const provider = new TracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES of the environment take precedence.
    resource: resourceFromAttributes({
      'service.name': service,
      'service.namespace': 'switchhook',
      'service.instance.id': `${hostname()}-${process.pid}`,
    }).merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(config),
    idGenerator: {
      generateTraceId: () => chosenId ?? random.generateTraceId(),
      generateSpanId: () => random.generateSpanId(),
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: loggingFailures(exporter, log),
        maxQueueSize: MAX_QUEUED,
        scheduledDelayMillis: SEND_EVERY_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('switchhook')

  return {
    isExporting: true,
    begin({ name, kind, parent, traceId, attributes }) {
      chosenId = parent === undefined ? traceId : undefined
      const sdkKind = SpanKind[kind.toUpperCase() as Uppercase<SpanStart['kind']>]
      const options = { kind: sdkKind, ...(attributes && { attributes: attributes() }) }
      return wrap(tracer.startSpan(name, options, contextOf(parent)))
    },
    /** An unreachable collector must neither delay the shutdown nor make it fail. */
    async close() {
      try {
        await answerWithin(CLOSE_TIMEOUT_MS, provider.shutdown(), `not sent within ${CLOSE_TIMEOUT_MS} ms`)
      } catch (error) {
        log.warn('the last traces could not be exported', { error })
      }
    },
  }
}

/** They read endpoint, headers, certificates, timeout and compression from the environment. Only the one in use is loaded. */
const EXPORTERS: Readonly<Record<TracingConfig['OTEL_EXPORTER_OTLP_PROTOCOL'], () => Promise<SpanExporter>>> = {
  grpc: async () => new (await import('@opentelemetry/exporter-trace-otlp-grpc')).OTLPTraceExporter(),
  'http/protobuf': async () => new (await import('@opentelemetry/exporter-trace-otlp-proto')).OTLPTraceExporter(),
  'http/json': async () => new (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter(),
}

function contextOf(parent: string | undefined): Context {
  const known = readTraceparent(parent)
  if (known === undefined) return ROOT_CONTEXT
  const [, , spanId = '', flags = ''] = known.split('-')
  const spanContext = { traceId: traceIdOf(known), spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return trace.setSpanContext(ROOT_CONTEXT, spanContext)
}

function wrap(span: SdkSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    setAttributes: (attributes) => {
      if (span.isRecording()) span.setAttributes(attributes())
    },
    rename: (name) => void span.updateName(name),
    end: (failure) => {
      if (failure !== undefined) span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: TracingConfig): Sampler {
  const root = name.endsWith('traceidratio')
    ? new TraceIdRatioBasedSampler(ratio)
    : name.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new AlwaysOnSampler()
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

/** Logs one line when exports begin to fail and one when they work again, because the exporter itself logs nothing. */
function loggingFailures(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const { error, code }: { readonly error?: Error; readonly code: number } = result
        const failed = error !== undefined || code !== 0
        if (failed && !isFailing) log.warn('traces cannot be exported; they are dropped', { error })
        if (!failed && isFailing) log.info('traces are exported again')
        isFailing = failed
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}
