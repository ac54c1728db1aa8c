/** Of the stack for endpoints that hang: half of the defaults or less, so that a benchmark has the patience. */
export const DEADLINE_MS = 5_000
export const COOLDOWN_MS = 10_000
