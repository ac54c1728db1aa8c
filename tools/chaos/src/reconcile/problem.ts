/** Problems that waiting cannot resolve. */
export const FINAL = [
  'two deliveries of one event',
  'body changed',
  'headers changed',
  'signature or headers',
  'attempt number',
  'attempt repeated',
  'first attempt after the answer',
  'sent after its expiry',
  'expired too early',
  'sequence number used twice',
  'time goes back',
  'notice of a notice',
  'effect repeated',
  'rejected by a receiver',
] as const

/** One violated guarantee. `what` names the delivery, event, endpoint or process. */
export interface Problem {
  readonly kind:
    | (typeof FINAL)[number]
    | 'missing'
    | 'not filtered'
    | 'gap'
    | 'no beginning'
    | 'no end'
    | 'wrongly parked'
    | 'rejected, not parked'
    | 'left in a queue'
    | 'not ready'
    | 'recovery'
    | 'parked notice without a rejection'
    | 'outage not reported'
    | 'retry given up'
    | 'nothing was exhausted'
    | 'effect missing'
    | 'view differs'
    // Found beside the reconciliation.
    | 'process'
    | 'unexpected answer'
    | 'not recovered'
    | 'does not hold'
    | 'against a setting'
    | 'differs from Asterisk'
  readonly what: string
}

export const problemsOf = (kind: Problem['kind'], found: readonly string[]): readonly Problem[] =>
  found.map((what) => ({ kind, what }))
