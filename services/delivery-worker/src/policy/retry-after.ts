/** A longer pause is cut: a mistake in the header must not stop deliveries for hours. */
export const MAX_PAUSE_MS = 15 * 60_000

/** A header that occurs several times is a list. */
type Header = string | readonly string[] | undefined

const firstOf = (header: Header): string | undefined => (typeof header === 'string' ? header : header?.[0])

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

/** The two forms of an HTTP date that are in use end with GMT. `Date.parse` alone takes `1.5` for a month. */
function dateMs(text: string | undefined): number | undefined {
  const ms = text?.endsWith(' GMT') === true ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
