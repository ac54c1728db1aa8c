import type { IncomingHttpHeaders } from 'node:http'
import { type SecretSpan, signatureFlaws } from './secrets.ts'

/** Body fields that the headers repeat. */
interface RepeatedFields {
  readonly deliveryId: string
  readonly eventType: string
}

/**
 * Returns the flaws of one attempt that its receiver can see: a wrong signature, and headers that contradict the body.
 * @param spans the secrets of the subscription, as the api returned them
 */
export function inspectPost(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { deliveryId, eventType }: RepeatedFields,
  spans: readonly SecretSpan[],
  beganAtMs: number,
): readonly string[] {
  const expected = { 'x-svc-delivery': deliveryId, 'webhook-id': deliveryId, 'x-svc-event': eventType }
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
