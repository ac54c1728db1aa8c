import type { Logger } from '@switchhook/runtime'
import { type AuditStore, createAuditStore, type Redis } from '@switchhook/store'
import { type Audit, createAudit } from './audit-log.ts'
import { openLaterEntries } from './later-entries.ts'

export interface AuditLog extends Pick<AuditStore, 'page'> {
  /** Runs the handler of a route and writes the audit entry of its success. */
  readonly carryOut: Audit
  /** Resolves once every entry is stored or given up. */
  readonly close: () => Promise<void>
}

export function openAudit({
  config,
  redis,
  log,
}: {
  readonly config: Readonly<Record<'AUDIT_LOG_SIZE' | 'AUDIT_COMMANDS_SIZE' | 'AUDIT_RETENTION', number>>
  readonly redis: Redis
  readonly log: Pick<Logger, 'info' | 'warn'>
}): AuditLog {
  const store = createAuditStore(redis, {
    entries: { webhooks: config.AUDIT_LOG_SIZE, commands: config.AUDIT_COMMANDS_SIZE },
    retentionMs: config.AUDIT_RETENTION,
  })
  const later = openLaterEntries(store, log)
  return {
    page: (tenant, query) => store.page(tenant, query),
    carryOut: createAudit(store, later, log),
    close: () => later.stored(),
  }
}
