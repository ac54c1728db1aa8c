import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attempt, Delivery } from '@switchhook/contracts'
import { deliveryAttributes, type Span, spanned, type Tracing } from '@switchhook/runtime'
import type { Posted } from '../http/post-under-lease.ts'
import type { DeliverDeps } from '../pipeline/deliver.ts'

type Handle = (delivery: Delivery) => Promise<void>

/** Lays spans around what a worker does; where none are exported, each of these gives back what it is given. */
export interface TurnTracing {
  /** Of a message from `queue`: all that is done with it. */
  readonly handle: (queue: string, handle: Handle) => Handle
  /** Of the POST of an attempt, within its turn. */
  readonly post: (post: DeliverDeps['post']) => DeliverDeps['post']
  /** Says on the turn's span what was decided. */
  readonly report: (report: DeliverDeps['report']) => DeliverDeps['report']
}

/**
 * Turns of one delivery, hours apart, are siblings in the trace: each continues what the delivery was published with, and
 * the delivery goes into its next wait as it came.
 */
export function traceTurns(tracing: Tracing): TurnTracing {
  if (!tracing.isExporting)
    return { handle: (_queue, handle) => handle, post: (post) => post, report: (report) => report }
  const turns = new AsyncLocalStorage<Span>()

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
        (span) => turns.run(span, () => handle(delivery)),
      ),
    post: (post) => async (delivery, attempt, lease) => {
      const start = {
        name: 'POST',
        kind: 'client',
        parent: turns.getStore()?.traceparent ?? delivery.traceparent,
        attributes: () => ({
          'http.request.method': 'POST',
          ...whereTo(delivery.url),
          ...(attempt > 1 && { 'http.request.resend_count': attempt - 1 }),
          'switchhook.delivery_id': delivery.deliveryId,
          'switchhook.run': delivery.run,
          'switchhook.slot': delivery.slot,
          'switchhook.attempt': attempt,
        }),
      } as const
      const span = tracing.begin(start)
      try {
        const posted = await post(delivery, attempt, lease)
        span.note(() => postedAttributes(posted))
        span.end(failureOf(posted))
        return posted
      } catch (error) {
        span.end(error instanceof Error ? error.name : 'error')
        throw error
      }
    },
    report: (report) => (delivery, attempt, decision, outcome) => {
      turns.getStore()?.note(() => ({
        'switchhook.decision': decision.kind,
        'switchhook.outcome': attemptOutcome(attempt) ?? outcome.kind,
        ...(attempt !== null && { 'switchhook.attempt': attempt.attempt }),
        ...(decision.kind === 'retry' && { 'switchhook.wait_ms': decision.waitMs }),
        ...(decision.kind === 'park' && { 'switchhook.parked_reason': decision.reason }),
      }))
      report(delivery, attempt, decision, outcome)
    },
  }
}

const attemptOutcome = (attempt: Attempt | null): Attempt['outcome'] | undefined => attempt?.outcome

/** https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client, without `url.full`: queries hold secrets. */
function whereTo(address: string): Record<string, string | number> {
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

function postedAttributes(posted: Posted): Record<string, string | number> {
  switch (posted.kind) {
    case 'readmitted':
      return { ...whereTo(posted.delivery.url), ...postedAttributes(posted.outcome) }
    case 'unreachable':
      return { 'switchhook.outcome': posted.reason }
    case 'delivered':
    case 'answered':
      return { 'switchhook.outcome': posted.kind, 'http.response.status_code': posted.status }
    default:
      return { 'switchhook.outcome': posted.kind }
  }
}

function failureOf(posted: Posted): string | undefined {
  switch (posted.kind) {
    case 'readmitted':
      return failureOf(posted.outcome)
    case 'answered':
      return String(posted.status)
    case 'unreachable':
      return posted.reason
    default:
      return undefined
  }
}
