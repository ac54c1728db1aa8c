import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** A signing secret of a subscription and the time for which it signs. Times in ms since 1970. */
export interface SecretSpan {
  readonly secret: string
  /** When the client had received the secret. */
  readonly knownAtMs: number
  /** The server retired the secret between these times. The current secret has none. */
  readonly retired?: { readonly earliestMs: number; readonly latestMs: number }
}

/** A worker reads the secrets, then connects and sends, within the deadline of an attempt. */
const ATTEMPT_MS = 3_000
/** `webhook-timestamp` has a resolution of one second. */
const SECOND_MS = 1_000

/**
 * Returns the spans after a rotation. No previous secret signs for longer than the overlap.
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
  const previous = spans.map((span) => ({
    ...span,
    retired: {
      earliestMs: Math.min(earliestMs, span.retired?.earliestMs ?? earliestMs),
      latestMs: Math.min(latestMs, span.retired?.latestMs ?? latestMs),
    },
  }))
  return [{ secret, knownAtMs: answeredAtMs }, ...previous]
}

/**
 * Verifies a signature with the `standardwebhooks` library and every secret of the subscription, and returns the flaws.
 * At least one active secret must fit. Every active secret that the worker must have known has to fit as well, so that a
 * receiver can switch secrets at any time during the overlap.
 */
export function signatureFlaws(
  headers: IncomingHttpHeaders,
  body: Buffer,
  spans: readonly SecretSpan[],
  beganAtMs: number,
): readonly string[] {
  if (headers['webhook-signature'] === undefined) return ['is not signed']
  // The worker decides by its own clock which secrets have retired.
  const signedAtMs = Number(headers['webhook-timestamp']) * SECOND_MS
  const errors: string[] = []
  const fits = spans.map(({ secret }) => {
    const error = signatureError(secret, headers, body)
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

/** Why this secret does not fit; undefined if it does. */
export function signatureError(secret: string, headers: IncomingHttpHeaders, body: Buffer): string | undefined {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
