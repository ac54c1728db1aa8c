/** Why no answer came, or none that could be understood. Stable: shown to users with each attempt. */
export const UNREACHABLE_REASONS = [
  'timeout',
  'dns',
  'refused',
  'tls',
  'reset',
  'network',
  'malformed',
  'blocked',
  'unusable-url',
] as const

export type UnreachableReason = (typeof UNREACHABLE_REASONS)[number]

/** What a POST came to. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'answered'; readonly status: number; readonly answer?: string }
  | { readonly kind: 'unreachable'; readonly reason: UnreachableReason }

/** Why a delivery was parked: its schedule ran out, or the endpoint refused it for good. */
export const PARKED_REASONS = ['exhausted', 'rejected'] as const

export type ParkedReason = (typeof PARKED_REASONS)[number]

/** One POST, as it is remembered and shown. */
export interface Attempt {
  /** 1 for the schedule that the event started; each sending again starts the next run. */
  readonly run: number
  /** Place in the schedule: 0 is at once, k comes after the kth wait. */
  readonly slot: number
  /** One-based over all runs; the value of `X-SVC-Attempt`. */
  readonly attempt: number
  /** ISO 8601, UTC: when the POST began. */
  readonly at: string
  readonly durationMs: number
  /** `delivered`, `answered`, or the reason why there was no answer. */
  readonly outcome: 'delivered' | 'answered' | UnreachableReason
  /** null without an answer. */
  readonly status: number | null
  /** How the body of an answer began that was no 2xx, as text without secrets; absent: nothing is known of it. */
  readonly answer?: string
}
