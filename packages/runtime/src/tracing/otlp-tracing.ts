import { hostname } from 'node:os'
import { type Context, ROOT_CONTEXT, type Span as SdkSpan, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { readTraceparent, traceIdOf } from '@switchhook/contracts'
import type { Logger } from '../logger.ts'
import type { TracingConfig } from './open-tracing.ts'
import type { Span, SpanStart, Tracing } from './tracing.ts'

/** Spans that wait for a collector; beyond it they are dropped, and nothing waits. About 1 KB each. */
const MOST_WAITING = 8_192
const SEND_EVERY_MS = 1_000
/** A part of the shortest grace that is sensible: what is in flight matters more. */
const CLOSE_WITHIN_MS = 3_000

/** OpenTelemetry with a provider of its own: nothing global is registered and no library is patched. */
export function createOtlpTracing({
  config,
  service,
  log,
}: {
  readonly config: TracingConfig
  readonly service: string
  readonly log: Logger
}): Tracing {
  const ids = new ChosenIds()
  const provider = new TracerProvider({
    // The environment's OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win.
    resource: resourceFromAttributes({
      'service.name': service,
      'service.namespace': 'switchhook',
      'service.instance.id': `${hostname()}-${process.pid}`,
    }).merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(config),
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: tellingOfTrouble(new OTLPTraceExporter({ url: urlOf(config) }), log),
        maxQueueSize: MOST_WAITING,
        scheduledDelayMillis: SEND_EVERY_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('switchhook')

  return {
    isExporting: true,
    begin({ name, kind, parent, traceId, attributes }) {
      ids.chosen = parent === undefined ? traceId : undefined
      const options = { kind: KINDS[kind], ...(attributes && { attributes: attributes() }) }
      return wrap(tracer.startSpan(name, options, contextOf(parent)))
    },
    close: () => closeWithin(CLOSE_WITHIN_MS, provider, log),
  }
}

/** What one variable names whole, the other names without its path. */
function urlOf({
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces,
  OTEL_EXPORTER_OTLP_ENDPOINT: base,
}: TracingConfig): string {
  return ofTraces ?? `${base?.replace(/\/$/, '')}/v1/traces`
}

const KINDS: Readonly<Record<SpanStart['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
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
    note: (attributes) => {
      if (span.isRecording()) span.setAttributes(attributes())
    },
    rename: (name) => void span.updateName(name),
    end: (failure) => {
      if (failure !== undefined) span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/** A trace that begins with a certain id: the next one that is asked for, in the same turn of the event loop. */
class ChosenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator()
  chosen: string | undefined
  generateTraceId(): string {
    return this.chosen ?? this.#random.generateTraceId()
  }
  generateSpanId(): string {
    return this.#random.generateSpanId()
  }
}

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: TracingConfig): Sampler {
  const [, parentBased, root] = /^(parentbased_)?(.*)$/.exec(name) ?? []
  const rootSampler = root === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : alwaysOr(root)
  return parentBased === undefined ? rootSampler : new ParentBasedSampler({ root: rootSampler })
}

const alwaysOr = (name: string | undefined): Sampler =>
  name === 'always_off' ? new AlwaysOffSampler() : new AlwaysOnSampler()

/** One line when it begins and one when it is over: the exporter itself says nothing, and a collector is not our business. */
function tellingOfTrouble(exporter: SpanExporter, log: Logger): SpanExporter {
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

/** A collector that is away is no reason to end late, or unclean. */
async function closeWithin(ms: number, provider: TracerProvider, log: Logger): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not sent within ${ms} ms`)), ms)
  })
  try {
    await Promise.race([provider.shutdown(), expired])
  } catch (error) {
    log.warn('the last traces could not be exported', { error })
  } finally {
    clearTimeout(timer)
  }
}
