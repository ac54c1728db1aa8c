import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** A signing secret of a subscription, and when it signs. Times in ms since 1970. */
export interface SecretSpan {
  readonly secret: string
  /** When the client had the answer that contained it. */
  readonly knownAtMs: number
  /** The present secret has none. The server retired it at some time between the two. */
  readonly retired?: { readonly earliestMs: number; readonly latestMs: number }
}

/** A worker reads the secrets, then connects and sends: at most the deadline of an attempt lies between. */
const ATTEMPT_MS = 3_000
/** `webhook-timestamp` is in whole seconds. */
const SECOND_MS = 1_000

/**
 * The spans after a rotation. None of the former secrets signs for longer than the overlap.
 * @param requestedAtMs before the request was sent
 * @param answeredAtMs after its answer arrived
 */
export function rotateSpans(
  spans: readonly SecretSpan[],
  secret: string,
  overlapMs: number,
  requestedAtMs: number,
  answeredAtMs: number,
): readonly SecretSpan[] {
  const earliestMs = requestedAtMs + overlapMs
  const latestMs = answeredAtMs + overlapMs
  const former = spans.map((span) => ({
    ...span,
    retired: {
      earliestMs: Math.min(earliestMs, span.retired?.earliestMs ?? earliestMs),
      latestMs: Math.min(latestMs, span.retired?.latestMs ?? latestMs),
    },
  }))
  return [{ secret, knownAtMs: answeredAtMs }, ...former]
}

/**
 * What is wrong with a signature. It is verified by the library of the specification with every secret of the subscription: one that
 * still signs has to fit, and so has every one that the worker surely knew, so that a receiver can change its secret at any time
 * during the overlap.
 */
export function signatureFlaws(
  headers: IncomingHttpHeaders,
  body: Buffer,
  spans: readonly SecretSpan[],
  beganAtMs: number,
): readonly string[] {
  if (headers['webhook-signature'] === undefined) return ['is not signed']
  // The subscription is new, and this delivery overtook the answer that contains its secret.
  if (spans.length === 0) return []
  // The worker's own clock, by which it decides which secrets have retired.
  const signedAtMs = Number(headers['webhook-timestamp']) * SECOND_MS
  const errors: string[] = []
  const fits = spans.map(({ secret }) => {
    const error = verify(secret, headers, body)
    if (error !== undefined) errors.push(error)
    return error === undefined
  })
  if (!fits.includes(true)) return [`does not verify: ${errors[0] ?? 'no secret fits'}`]
  const isRetired = ({ retired }: SecretSpan): boolean =>
    retired !== undefined && signedAtMs > retired.latestMs + SECOND_MS
  if (spans.every((span, at) => !fits[at] || isRetired(span))) return ['is signed only with retired secrets']
  const mustFit = ({ knownAtMs, retired }: SecretSpan): boolean =>
    beganAtMs > knownAtMs + ATTEMPT_MS && (retired === undefined || signedAtMs + SECOND_MS < retired.earliestMs)
  return spans.flatMap((span, at) =>
    fits[at] || !mustFit(span) ? [] : [`is not signed with secret ${spans.length - at} of ${spans.length}`],
  )
}

function verify(secret: string, headers: IncomingHttpHeaders, body: Buffer): string | undefined {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
