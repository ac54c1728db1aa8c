/** Reasons that an attempt meets on its way. A client that forwards a delivery meets them, too. */
export const CONNECTION_REASONS = ['timeout', 'dns', 'refused', 'tls', 'reset', 'network', 'malformed'] as const

/**
 * Why there was no usable response. Stable: shown to users with each attempt. `lapsed`: the client that received the
 * delivery reported no outcome within its lease. `proxy`: the operator's egress proxy made no connection; the endpoint
 * is not at fault.
 */
export const UNREACHABLE_REASONS = [...CONNECTION_REASONS, 'blocked', 'unusable-url', 'lapsed', 'proxy'] as const

export type UnreachableReason = (typeof UNREACHABLE_REASONS)[number]

/** Numbers of outcomes in webhook bodies; REST has the names. 0: no attempt was made, or the outcome is not known. */
export const OutcomeNumber = {
  unknown: 0,
  delivered: 1,
  answered: 2,
  timeout: 3,
  dns: 4,
  refused: 5,
  tls: 6,
  reset: 7,
  network: 8,
  malformed: 9,
  blocked: 10,
  'unusable-url': 11,
  lapsed: 12,
  proxy: 13,
} as const satisfies Record<Attempt['outcome'] | 'unknown', number>
export type OutcomeNumber = (typeof OutcomeNumber)[keyof typeof OutcomeNumber]

/** `detail`: what the worker saw beside status or reason, as text for people. */
export type Outcome = { readonly detail?: string } & (
  | { readonly kind: 'delivered'; readonly status: number }
  /** `retryAfterMs`: its `Retry-After`, as a time. */
  | { readonly kind: 'answered'; readonly status: number; readonly answer?: string; readonly retryAfterMs?: number }
  | { readonly kind: 'unreachable'; readonly reason: UnreachableReason }
)

/** The limit of `detail`, in characters. */
export const MAX_DETAIL = 256

/**
 * Whether a response is retried: 5xx, 408, 425 and 429 (specification, "Receiver obligations and semantics", 2 and 3). Any
 * other response that is not 2xx is final.
 */
export const isTransientStatus = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429

/** Why a delivery was parked: the schedule is exhausted, or the endpoint rejected it. */
export const PARKED_REASONS = ['exhausted', 'rejected'] as const

export type ParkedReason = (typeof PARKED_REASONS)[number]

/**
 * What ended a delivery that was parked as `exhausted` before its schedule ended. `held-limit`: more was held than the limit
 * allows. `waiting-limit`: as many deliveries of the tenant waited for a retry as may. `withdrawn`: a delivery that was not
 * parked or received before would have been withdrawn.
 */
export const PARKED_CAUSES = ['held-limit', 'waiting-limit', 'withdrawn'] as const

export type ParkedCause = (typeof PARKED_CAUSES)[number]

export const ParkedReasonNumber = {
  unknown: 0,
  exhausted: 1,
  rejected: 2,
} as const satisfies Record<ParkedReason | 'unknown', number>

/** The record of one POST. */
export interface Attempt {
  readonly run: number
  readonly slot: number
  /** Counts from 1 over all runs; the value of `X-SVC-Attempt`. */
  readonly attempt: number
  /** ISO 8601, UTC: when the POST began. */
  readonly at: string
  readonly durationMs: number
  /** `delivered` (2xx), `answered` (any other response), or why there was no response. */
  readonly outcome: 'delivered' | 'answered' | UnreachableReason
  readonly status: number | null
  /** Beginning of a non-2xx response body, as text with secrets removed; absent if there is none. */
  readonly answer?: string
  /** What the worker saw beside outcome and status, as text for people: the addresses that it tried, a TLS alert, where a redirect leads. */
  readonly detail?: string
}
