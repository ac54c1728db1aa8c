import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Content, Notice, Post } from '../reconcile/observation.ts'
import type { Behaviour } from './behaviour.ts'
import { inspectPost, lastingHeaders } from './inspect-post.ts'
import type { SecretSpan } from './secrets.ts'

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
  const { subscriptionId = '', deliveryId = '', eventId = '', eventType: ofType = '', run = 0, since = '' } = data
  if (eventType === 'webhook.delivery.parked')
    return { kind: 'parked', subscriptionId, deliveryId, run, eventId, ofType }
  if (eventType === 'webhook.endpoint.failing') return { kind: 'failing', subscriptionId, since }
  return { kind: 'recovered', subscriptionId, since, recoveredAt: data.recoveredAt ?? '' }
}
