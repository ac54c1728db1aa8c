import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Content, Notice, Post } from '../reconcile/observation.ts'
import type { Behaviour } from './behaviour.ts'
import { type SecretSpan, signatureFlaws } from './secrets.ts'

/**
 * Reads an attempt, in a form small enough to keep hours of them in memory.
 * @param spans asked when `inspect` is called, which notes the flaws
 */
export function readPost(
  behaviour: Pick<Behaviour, 'name' | 'headers'>,
  headers: IncomingHttpHeaders,
  body: Buffer,
  spans: () => readonly SecretSpan[],
  beganAtMs: number,
): { readonly post: Post; readonly inspect: () => void } {
  const envelope = JSON.parse(body.toString()) as Envelope
  const post: Post = {
    endpoint: behaviour.name,
    deliveryId: String(headers['x-svc-delivery']),
    eventId: String(headers['x-svc-event-id']),
    attempt: Number(headers['x-svc-attempt']),
    content: contentOf(envelope),
    digest: createHash('sha1').update(body).digest('base64'),
    lasting: lastingHeaders(headers),
    flaws: [],
    beganAtMs,
    atMs: Date.now(),
    occurredAtMs: Date.parse(envelope.occurredAt),
    status: null,
  }
  const inspect = (): void => {
    post.flaws = inspectPost(headers, body, { ...envelope, headers: behaviour.headers }, spans(), beganAtMs)
  }
  return { post, inspect }
}

interface Envelope {
  readonly deliveryId: string
  readonly eventType: string
  readonly occurredAt: string
  readonly data: {
    /** Set by `load/platform-events.ts`, and in notices. */
    readonly eventId?: string
    readonly reason?: number
    readonly callId?: string
    readonly agentUri?: string
    readonly sequence?: number
    readonly state?: number
    readonly statusCode?: number
    /** Set in notices. */
    readonly subscriptionId?: string
    readonly deliveryId?: string
    readonly eventType?: string
    readonly run?: number
    readonly since?: string
    readonly recoveredAt?: string
  }
}

function contentOf({ eventType, data }: Envelope): Content {
  if (eventType.startsWith('webhook.')) return noticeOf(eventType, data)
  const { eventId, callId = '', agentUri = '', sequence = 0, state = 0, statusCode = 0 } = data
  if (eventId !== undefined) return { kind: 'platform', eventId }
  if (eventType === 'agent.status') return { kind: 'agent', agentUri, sequence, state: statusCode }
  return { kind: 'leg', callId, agentUri, sequence, state }
}

function noticeOf(eventType: string, data: Envelope['data']): Notice {
  const {
    subscriptionId = '',
    deliveryId = '',
    eventId = '',
    eventType: ofType = '',
    run = 0,
    reason = 0,
    since = '',
  } = data
  if (eventType === 'webhook.delivery.parked')
    return { kind: 'parked', subscriptionId, deliveryId, run, reason, eventId, ofType }
  if (eventType === 'webhook.endpoint.failing') return { kind: 'failing', subscriptionId, since }
  return { kind: 'recovered', subscriptionId, since, recoveredAt: data.recoveredAt ?? '' }
}

/** Body fields that the headers repeat, and the headers of the subscription. */
interface Expected {
  readonly deliveryId: string
  readonly eventType: string
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Returns the flaws of one attempt that its receiver can see: a wrong signature, headers that contradict the body, and missing headers of its subscription.
 * @param spans the secrets of the subscription, as the api returned them
 */
export function inspectPost(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { deliveryId, eventType, headers: more }: Expected,
  spans: readonly SecretSpan[],
  beganAtMs: number,
): readonly string[] {
  const expected = { 'x-svc-delivery': deliveryId, 'webhook-id': deliveryId, 'x-svc-event': eventType, ...more }
  return [
    ...signatureFlaws(headers, body, spans, beganAtMs),
    ...Object.entries(expected)
      .filter(([name, value]) => headers[name] !== value)
      .map(([name, value]) => `${name} is ${String(headers[name])}, not ${value}`),
  ]
}

/** The `X-SVC-…` headers without `X-SVC-Attempt`, the only one that may differ between attempts. */
export const lastingHeaders = (headers: IncomingHttpHeaders): string =>
  Object.entries(headers)
    .filter(([name]) => name.startsWith('x-svc-') && name !== 'x-svc-attempt')
    .map(([name, value]) => `${name}: ${String(value)}`)
    .toSorted()
    .join('\n')
