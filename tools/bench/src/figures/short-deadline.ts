/** Deadline and cool-down for figures with hanging endpoints: shorter than the defaults, to keep the runs short. */
export const DEADLINE_MS = 5_000
export const COOLDOWN_MS = 10_000
