import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Content, Post } from '../reconcile/observation.ts'
import type { Behaviour } from './behaviour.ts'
import { type SecretSpan, signatureFlaws } from './secrets.ts'

/**
 * Reads an attempt, in a form small enough to keep hours of them in memory. Its flaws are noted once the secrets are known.
 * @param spans the secrets of the subscription, as the api returned them
 */
export function readPost(
  behaviour: Pick<Behaviour, 'name' | 'headers'>,
  headers: IncomingHttpHeaders,
  body: Buffer,
  spans: Promise<readonly SecretSpan[]>,
  beganAtMs: number,
): Post {
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
  spans.then(
    (known) => (post.flaws = inspectPost(headers, body, { ...envelope, ...behaviour }, known, beganAtMs)),
    // The subscription was not created, which ends the run.
    () => {},
  )
  return post
}

interface Envelope {
  readonly deliveryId: string
  readonly eventType: string
  readonly occurredAt: string
  readonly data: Data
}

/** An event of each type has some of these fields. */
type Data = Readonly<
  Record<
    'eventId' | 'callId' | 'agentUri' | 'subscriptionId' | 'deliveryId' | 'eventType' | 'since' | 'recoveredAt',
    string
  > &
    Record<'parkedReason' | 'run' | 'sequence' | 'state' | 'statusCode', number>
>

function contentOf({ eventType, data }: Envelope): Content {
  const { subscriptionId, deliveryId, run, parkedReason, eventId, eventType: ofType, since, recoveredAt } = data
  const { callId, agentUri, sequence, state, statusCode } = data
  switch (eventType) {
    case 'webhook.delivery.parked':
      return { kind: 'parked', subscriptionId, deliveryId, run, reason: parkedReason, eventId, ofType }
    case 'webhook.endpoint.failing':
      return { kind: 'failing', subscriptionId, since }
    case 'webhook.endpoint.recovered':
      return { kind: 'recovered', subscriptionId, since, recoveredAt }
    case 'agent.status':
      return { kind: 'agent', agentUri, sequence, state: statusCode }
    default:
      // Only `load/platform-events.ts` sets the id.
      return 'eventId' in data ? { kind: 'platform', eventId } : { kind: 'leg', callId, agentUri, sequence, state }
  }
}

/** The flaws that a receiver can see: a wrong signature, headers that contradict the body, missing headers of its subscription. */
export function inspectPost(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { deliveryId, eventType, headers: more }: Pick<Envelope, 'deliveryId' | 'eventType'> & Pick<Behaviour, 'headers'>,
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
