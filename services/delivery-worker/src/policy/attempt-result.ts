import type { Attempt, Outcome } from '@switchhook/contracts'

/** An outcome in the words of an attempt. */
export const resultOf = (outcome: Outcome): Pick<Attempt, 'outcome' | 'status'> =>
  outcome.kind === 'unreachable'
    ? { outcome: outcome.reason, status: null }
    : { outcome: outcome.kind, status: outcome.status }
