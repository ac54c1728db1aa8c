import { AsyncLocalStorage } from 'node:async_hooks'
import type { Delivery } from '@switchhook/contracts'
import { deliveryAttributes, type Span, spanned, type Tracing } from '@switchhook/runtime'
import type { Posted } from '../http/post-under-lease.ts'
import { resultOf } from '../policy/classify.ts'
import type { Withheld } from '../policy/decide.ts'
import type { DeliveryObserver } from './observer.ts'

export type Handle = (delivery: Delivery) => Promise<void>

/**
 * The slots of one delivery, hours apart, are siblings in its trace. Each continues the context that the delivery was
 * published with, and a retry is published with the same context.
 */
export function createDeliverySpans(tracing: Tracing): {
  /** Wraps the handling of each message from `queue` in a span. Without an export of traces, it returns its argument. */
  readonly handle: (queue: string, handle: Handle) => Handle
  /** Adds a span for each POST, and the decision to the span of the message. */
  readonly observer: DeliveryObserver
} {
  if (!tracing.isExporting) return { handle: (_queue, handle) => handle, observer: {} }
  const messages = new AsyncLocalStorage<Span>()

  return {
    handle: (queue, handle) => (delivery) =>
      spanned(
        tracing,
        {
          name: 'process switchhook.delivery',
          kind: 'consumer',
          parent: delivery.traceparent,
          attributes: () => ({
            ...deliveryAttributes(delivery),
            'messaging.operation.name': 'process',
            'messaging.operation.type': 'process',
            'messaging.destination.name': queue,
            'switchhook.run': delivery.run,
            'switchhook.slot': delivery.slot,
          }),
        },
        (span) => messages.run(span, () => handle(delivery)),
      ),
    observer: {
      posting: (delivery, attempt) => {
        const span = tracing.begin({
          name: 'POST',
          kind: 'client',
          parent: messages.getStore()?.traceparent ?? delivery.traceparent,
          attributes: () => ({
            'http.request.method': 'POST',
            ...addressAttributes(delivery.url),
            ...(attempt > 1 && { 'http.request.resend_count': attempt - 1 }),
            'switchhook.delivery_id': delivery.deliveryId,
            'switchhook.run': delivery.run,
            'switchhook.slot': delivery.slot,
            'switchhook.attempt': attempt,
          }),
        })
        return (posted, error) => {
          if (posted === undefined) return span.end(error instanceof Error ? error.name : 'error')
          span.setAttributes(() => postedAttributes(posted))
          span.end(failureOf(posted))
        }
      },
      concluded: (_delivery, attempt, decision, outcome) => {
        messages.getStore()?.setAttributes(() => ({
          'switchhook.decision': decision.kind,
          'switchhook.outcome': attempt?.outcome ?? outcome.kind,
          ...(attempt !== null && { 'switchhook.attempt': attempt.attempt }),
          ...(decision.kind === 'retry' && { 'switchhook.wait_ms': decision.waitMs }),
          ...(decision.kind === 'park' && { 'switchhook.parked_reason': decision.reason }),
        }))
      },
    },
  }
}

/** https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client, without `url.full`: a query may contain secrets. */
function addressAttributes(address: string): Record<string, string | number> {
  const url = URL.parse(address)
  if (url === null) return {}
  const isHttps = url.protocol === 'https:'
  return {
    'url.scheme': isHttps ? 'https' : 'http',
    'url.path': url.pathname,
    'server.address': url.hostname,
    'server.port': Number(url.port || (isHttps ? 443 : 80)),
  }
}

function postedAttributes(posted: Posted | Withheld): Record<string, string | number> {
  if (posted.kind !== 'posted') return { 'switchhook.outcome': posted.kind }
  const { delivery, outcome } = posted
  const { outcome: result, status } = resultOf(outcome)
  return {
    ...addressAttributes(delivery.url),
    'switchhook.outcome': result,
    ...(status !== null && { 'http.response.status_code': status }),
  }
}

function failureOf(posted: Posted | Withheld): string | undefined {
  if (posted.kind !== 'posted' || posted.outcome.kind === 'delivered') return undefined
  return posted.outcome.kind === 'answered' ? String(posted.outcome.status) : posted.outcome.reason
}
