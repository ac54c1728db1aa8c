import type { IncomingHttpHeaders } from 'node:http'
import { type SecretSpan, signatureFlaws } from './secrets.ts'

/** What the headers of an attempt have to repeat. */
interface Said {
  readonly deliveryId: string
  readonly eventType: string
}

/**
 * What is wrong with one attempt, as its receiver sees it: its signature, and headers that contradict the body.
 * @param spans the secrets of its subscription, as its owner got them from the api
 */
export function inspectPost(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { deliveryId, eventType }: Said,
  spans: readonly SecretSpan[],
  beganAtMs: number,
): readonly string[] {
  const due = { 'x-svc-delivery': deliveryId, 'webhook-id': deliveryId, 'x-svc-event': eventType }
  return [
    ...signatureFlaws(headers, body, spans, beganAtMs),
    ...Object.entries(due)
      .filter(([name, value]) => headers[name] !== value)
      .map(([name, value]) => `${name} is ${String(headers[name])}, not ${value}`),
  ]
}

/** Its `X-SVC-…` headers without the attempt, which alone may change from one attempt to the next. */
export const lastingHeaders = (headers: IncomingHttpHeaders): string =>
  Object.entries(headers)
    .filter(([name]) => name.startsWith('x-svc-') && name !== 'x-svc-attempt')
    .map(([name, value]) => `${name}: ${String(value)}`)
    .toSorted()
    .join('\n')
