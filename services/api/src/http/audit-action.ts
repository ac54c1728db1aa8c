import type { AuditList } from '@switchhook/store'

/** The actions of the audit log, by list. Later versions may add others, so clients must accept unknown ones. */
const BY_LIST = {
  webhooks: [
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
  ],
  commands: [
    'call.dialled',
    'call.answered',
    'call.hung-up',
    'call.held',
    'call.resumed',
    'call.transferred',
    'agent.presence-set',
  ],
} as const satisfies Record<AuditList, readonly string[]>

export type AuditAction = (typeof BY_LIST)[AuditList][number]

export const AUDIT_LISTS = Object.keys(BY_LIST) as readonly AuditList[]

export const AUDIT_ACTIONS: readonly AuditAction[] = AUDIT_LISTS.flatMap((list) => BY_LIST[list])

const COMMANDS: ReadonlySet<AuditAction> = new Set(BY_LIST.commands)

export const listOf = (action: AuditAction): AuditList => (COMMANDS.has(action) ? 'commands' : 'webhooks')

/** How a route's successful requests are recorded in the audit log. */
export interface Audited {
  readonly action: AuditAction
  /** The ids of the affected objects: fields of the answer, or parameters of the path. */
  readonly ids: readonly string[]
}
