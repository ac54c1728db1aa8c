import { newTraceparent } from '@switchhook/contracts'

/** What a span says beside its name; by the semantic conventions of OpenTelemetry where they have a name for it. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanStart {
  readonly name: string
  readonly kind: 'server' | 'client' | 'producer' | 'consumer'
  /** The `traceparent` that it continues; undefined: a trace begins here. */
  readonly parent: string | undefined
  /** Of a trace that begins here, 32 hexadecimal digits; undefined: a new one. */
  readonly traceId?: string | undefined
  /** Asked only where spans are exported. */
  readonly attributes?: () => SpanAttributes
}

/** One piece of work, from its beginning to its end. */
export interface Span {
  /** What its consequences continue. */
  readonly traceparent: string
  /** Adds what has become known. Asked only where spans are exported. */
  note(attributes: () => SpanAttributes): void
  rename(name: string): void
  /** @param failure why it failed, if it did: a word, such as a status or an outcome */
  end(failure?: string): void
}

/** Follows an event through the services. Nothing here ever fails or waits for anything. */
export interface Tracing {
  /** Where nothing is exported, contexts are still passed on, so that log lines of one event can be found together. */
  readonly isExporting: boolean
  begin(start: SpanStart): Span
  /** Sends what has not been sent yet, for no longer than a few seconds. */
  close(): Promise<void>
}

/** Passes contexts on, and begins one where there is none. */
export function createContextOnly(): Tracing {
  return {
    isExporting: false,
    begin: ({ parent, traceId }) => new ContextOnly(parent ?? newTraceparent(traceId)),
    close: () => Promise.resolve(),
  }
}

class ContextOnly implements Span {
  readonly traceparent: string
  constructor(traceparent: string) {
    this.traceparent = traceparent
  }
  note(): void {}
  rename(): void {}
  end(): void {}
}

/** Does a piece of work as a span, which fails if the work throws. */
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
