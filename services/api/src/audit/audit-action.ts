/** The actions of the audit log. Later versions may add others, so clients must accept unknown ones. */
export const AUDIT_ACTIONS = [
  'subscription.created',
  'subscription.changed',
  'subscription.deleted',
  'subscription.secret-rotated',
  'subscription.tested',
  'subscription.checked',
  'delivery.redelivered',
  'event.delivered',
  'recovery.started',
  'backfill.started',
  'recovery.cancelled',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** How a route's successful requests are recorded in the audit log. */
export interface Audited {
  readonly action: AuditAction
  /** The ids of the affected objects, by name (`subscriptionId`). `made` is the body of the answer, `{}` if it has none. */
  readonly on: (about: {
    readonly params: Readonly<Record<string, string>>
    readonly made: Readonly<Record<string, unknown>>
  }) => Readonly<Record<string, unknown>>
}
