/** A request that failed, as far as a retry depends on it. */
export interface Failed {
  readonly method: string
  readonly hasKey: boolean
  /** The request may have had its effect, by this try or an earlier one. */
  readonly mayHaveRun: boolean
  /** Absent: no answer. */
  readonly status?: number | undefined
  /** Of the API's error; absent: the API did not answer. */
  readonly code?: string | undefined
}

/** `renew-token`: repeat once with a fresh token. `done`: the repeat shows that the first try succeeded. */
export type Reaction = 'retry' | 'renew-token' | 'done' | 'give-up'

/** Refusals that prove that nothing was done, besides every 429. */
const NOT_RUN: readonly string[] = ['platform-unavailable', 'idempotency-key-in-use']
/** A check begins anew with each request, and takes up to 20 seconds. */
const FINAL = 'check-unfinished'
/** The last three are a proxy's without the API, or the API's without Redis or the broker. */
const PASSING: readonly number[] = [500, 502, 503, 504]

/** Decides about a failed request. */
export function reactionTo({ method, hasKey, mayHaveRun, status, code = '' }: Failed): Reaction {
  if (code === FINAL) return 'give-up'
  if (status === 429 || NOT_RUN.includes(code)) return 'retry'
  if (code === 'unauthorized') return 'renew-token'
  if (status === 404 && code !== '' && method === 'DELETE' && mayHaveRun) return 'done'
  if (status !== undefined && !PASSING.includes(status)) return 'give-up'
  // A repeated POST without a key could do its work twice.
  return method !== 'POST' || hasKey || !mayHaveRun ? 'retry' : 'give-up'
}

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 15_000

/** The wait before try `tries + 1`, between half of a doubling step and the whole. @param random between 0 and 1 */
export const backoffMs = (tries: number, random: number, firstMs: number = FIRST_WAIT_MS): number =>
  Math.min(firstMs * 2 ** tries, MAX_WAIT_MS) * (0.5 + random / 2)

/** Reads the seconds or the date of `Retry-After` (RFC 9110, section 10.2.3); undefined if it is absent, wrong or past. */
export function retryAfterMs(header: string | null): number | undefined {
  const text = String(header)
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return ms >= 0 ? ms : undefined
}
