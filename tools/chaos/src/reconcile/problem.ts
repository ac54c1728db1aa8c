/** One violated guarantee. `what` names the delivery, event or endpoint. */
export interface Problem {
  readonly kind:
    | 'missing'
    | 'gap'
    | 'no beginning'
    | 'no end'
    | 'two deliveries of one event'
    | 'body changed'
    | 'headers changed'
    | 'signature or headers'
    | 'attempt number'
    | 'attempt repeated'
    | 'wrongly parked'
    | 'rejected, not parked'
    | 'left in a queue'
    | 'not ready'
    | 'recovery'
    | 'notice of a notice'
    | 'parked notice without a rejection'
    | 'outage not reported'
    | 'first attempt after the answer'
    | 'retry given up'
    | 'sequence number used twice'
    | 'time goes back'
    | 'nothing was exhausted'
  readonly what: string
}
