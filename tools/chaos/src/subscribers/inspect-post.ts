import type { IncomingHttpHeaders } from 'node:http'
import { type SecretSpan, signatureFlaws } from './secrets.ts'

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
