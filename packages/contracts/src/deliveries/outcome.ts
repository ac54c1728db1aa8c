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

/**
 * The outcomes of an attempt, as webhook bodies number them; REST answers have the names. 0 also stands for "no attempt was
 * made" and for an outcome that this version does not know.
 */
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
} as const satisfies Record<Attempt['outcome'] | 'unknown', number>
export type OutcomeNumber = (typeof OutcomeNumber)[keyof typeof OutcomeNumber]

/** What a POST came to. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'answered'; readonly status: number; readonly answer?: string }
  | { readonly kind: 'unreachable'; readonly reason: UnreachableReason }

/** Why a delivery was parked: its schedule ran out, or the endpoint refused it for good. */
export const PARKED_REASONS = ['exhausted', 'rejected'] as const

export type ParkedReason = (typeof PARKED_REASONS)[number]

/** The reasons for parking, as webhook bodies number them; REST answers have the names. */
export const ParkedReasonNumber = {
  unknown: 0,
  exhausted: 1,
  rejected: 2,
} as const satisfies Record<ParkedReason | 'unknown', number>
export type ParkedReasonNumber = (typeof ParkedReasonNumber)[keyof typeof ParkedReasonNumber]

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
