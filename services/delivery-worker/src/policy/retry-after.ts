/** A longer pause is cut: a mistake in the header must not stop deliveries for hours. */
export const MAX_PAUSE_MS = 15 * 60_000

/** A header that occurs several times is a list. */
export type Header = string | readonly string[] | undefined

/** White space around a value is no part of it (RFC 9110, section 5.5); undici leaves it. */
const firstOf = (header: Header): string | undefined => (typeof header === 'string' ? header : header?.[0])?.trim()

/**
 * How long an endpoint asks for a pause: `Retry-After` of a 429 or 503, in seconds or as a date (RFC 9110, section 10.2.3).
 * A date counts from the answer's own `Date`, because the clock of the endpoint may be wrong. Undefined: no pause is asked
 * for, or the header has neither form.
 */
export function pauseMsOf(
  status: number,
  headers: { readonly 'retry-after'?: Header; readonly date?: Header },
  nowMs: number,
): number | undefined {
  const retryAfter = firstOf(headers['retry-after'])
  if ((status !== 429 && status !== 503) || retryAfter === undefined) return undefined
  const sentAtMs = dateMs(firstOf(headers.date)) ?? nowMs
  const pauseMs = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : (dateMs(retryAfter) ?? sentAtMs) - sentAtMs
  return pauseMs > 0 ? Math.min(pauseMs, MAX_PAUSE_MS) : undefined
}

/** RFC 9110, section 5.6.7: two forms end with GMT, and that of asctime means it. `Date.parse` alone takes `1.5` for a month. */
function dateMs(text: string | undefined): number | undefined {
  const zoned = text !== undefined && ASCTIME.test(text) ? `${text} GMT` : text
  const ms = zoned?.endsWith(' GMT') === true ? Date.parse(zoned) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/
