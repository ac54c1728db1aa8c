import { createAuditStore } from '@switchhook/store'
import type { Base, Feature } from '../feature.ts'
import { type Audit, createAudit } from './audit-log.ts'
import { createAuditRoutes } from './audit-routes.ts'

export interface AuditFeature extends Feature {
  /** Runs the handler of a route and writes the audit entry of its success. */
  readonly carryOut: Audit
}

export function createAuditFeature({ config, redis, log }: Base): AuditFeature {
  const auditLog = createAuditStore(redis, { entries: config.AUDIT_LOG_SIZE, retentionMs: config.AUDIT_RETENTION })
  return {
    carryOut: createAudit((...entry) => auditLog.append(...entry), log),
    routes: createAuditRoutes({ auditLog }),
  }
}
