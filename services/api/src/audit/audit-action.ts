import type { Answer, RouteRequest } from '../http/route.ts'

/** What the audit log tells of. Clients may meet others in a later version. */
export const AUDIT_ACTIONS = [
  'subscription.created',
  'subscription.changed',
  'subscription.deleted',
  'subscription.secret-rotated',
  'subscription.tested',
  'subscription.checked',
  'delivery.redelivered',
  'recovery.started',
  'recovery.cancelled',
] as const

export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** How a route's success stands in the audit log. */
export interface Audited {
  readonly action: AuditAction
  /** The ids of what it was done to, by name (`subscriptionId`). `made` is the answer's body, empty where it has none. */
  readonly on: (about: {
    readonly params: RouteRequest['params']
    readonly made: Readonly<Record<string, unknown>>
  }) => Readonly<Record<string, unknown>>
}

/** The ids of one request. What is no text is left out. */
export function auditedIds(audited: Audited, params: RouteRequest['params'], { body }: Answer): Record<string, string> {
  const made = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const ids = Object.entries(audited.on({ params, made }))
  return Object.fromEntries(ids.filter((id): id is [string, string] => typeof id[1] === 'string'))
}
