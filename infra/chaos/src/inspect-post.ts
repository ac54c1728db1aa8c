import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** What the headers of an attempt have to say the same as. */
interface Said {
  readonly deliveryId: string
  readonly eventType: string
}

/**
 * What is wrong with one attempt, seen as its receiver sees it: its signature, by the library of the specification, and that its headers
 * say what its body says.
 * @param secret as the subscription's owner got it on create
 */
export function inspectPost(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { deliveryId, eventType }: Said,
  secret: string,
): readonly string[] {
  const due = { 'x-svc-delivery': deliveryId, 'webhook-id': deliveryId, 'x-svc-event': eventType }
  return [
    ...signatureFlaw(headers, body, secret),
    ...Object.entries(due)
      .filter(([name, value]) => headers[name] !== value)
      .map(([name, value]) => `${name} is ${String(headers[name])}, not ${value}`),
  ]
}

function signatureFlaw(headers: IncomingHttpHeaders, body: Buffer, secret: string): readonly string[] {
  if (headers['webhook-signature'] === undefined) return ['is not signed']
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false })
    return []
  } catch (error) {
    return [`does not verify: ${error instanceof Error ? error.message : String(error)}`]
  }
}

/** Its `X-SVC-…` headers but for the attempt, which alone may change from one attempt to the next. */
export const lastingHeaders = (headers: IncomingHttpHeaders): string =>
  Object.entries(headers)
    .filter(([name]) => name.startsWith('x-svc-') && name !== 'x-svc-attempt')
    .map(([name, value]) => `${name}: ${String(value)}`)
    .toSorted()
    .join('\n')
