import { newTraceparent } from '@switchhook/contracts'

/** Named by OpenTelemetry's semantic conventions where they define a name. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanStart {
  readonly name: string
  readonly kind: 'server' | 'client' | 'producer' | 'consumer'
  /** The `traceparent` of the parent span; undefined: the span starts a new trace. */
  readonly parent: string | undefined
  /** The id of a new trace, 32 hexadecimal digits; undefined: a random one. */
  readonly traceId?: string | undefined
  readonly attributes?: () => SpanAttributes
}

export interface Span {
  /** The parent for the spans that this operation causes. */
  readonly traceparent: string
  /** `attributes` is called only if spans are exported. */
  setAttributes(attributes: () => SpanAttributes): void
  rename(name: string): void
  /** @param failure the reason of a failure in one word, such as a status or an outcome; undefined: success */
  end(failure?: string): void
}

/** Follows an event through the services. Except for `close`, no method throws or waits. */
export interface Tracing {
  /** Without export, trace contexts are still passed on, so that the log lines of one event share a trace id. */
  readonly isExporting: boolean
  begin(start: SpanStart): Span
  /** Sends the queued spans, for a few seconds at most. */
  close(): Promise<void>
}

/** Passes trace contexts on, and creates one where there is none. Exports nothing. */
export function createContextOnly(): Tracing {
  return {
    isExporting: false,
    begin: ({ parent, traceId }) => ({
      traceparent: parent ?? newTraceparent(traceId),
      setAttributes: doNothing,
      rename: doNothing,
      end: doNothing,
    }),
    close: async () => {},
  }
}

const doNothing = (): void => {}

/** Runs `work` in a span. The span is marked as failed if the work throws. */
export async function spanned<T>(tracing: Tracing, start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
  const span = tracing.begin(start)
  try {
    const result = await work(span)
    span.end()
    return result
  } catch (error) {
    span.end(error instanceof Error ? error.name : 'error')
    throw error
  }
}
