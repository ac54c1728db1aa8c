import type { Logger } from '@switchhook/runtime'
import type { AuditStore } from '@switchhook/store'
import type { Answer, Caller, Route, RouteRequest } from '../http/route.ts'
import { auditedIds } from './audit-action.ts'
import { createEntry, fieldsOf, type Origin } from './audit-entry.ts'

/** Carries out a route, and writes down what was done if the route is one of those that are written down. */
export type Audit = (route: Route, request: RouteRequest, origin: Origin) => Promise<Answer>

/**
 * The one place that writes the audit log: a line of the service's own log, and an entry in the tenant's log in Redis. It
 * is written after the change has succeeded and before the client hears of it. The change stands whatever becomes of the
 * entry; if that cannot be stored, the line is still there, and a warning beside it.
 */
export function createAudit(append: AuditStore['append'], log: Pick<Logger, 'info' | 'warn'>): Audit {
  async function write(tenant: Caller['tenant'], entry: ReturnType<typeof createEntry>): Promise<void> {
    log.info('audit', { tenant, ...entry })
    await append(tenant, entry.action, entry).catch((error: unknown) => {
      log.warn('an entry of the audit log could not be stored', { requestId: entry.requestId, error })
    })
  }

  return async (route, request, origin) => {
    const answer = await route.handle(request)
    const { audit } = route
    if (audit === undefined || answer.isUnchanged === true) return answer
    const { caller, params, body } = request
    const done = { on: auditedIds(audit, params, answer), fields: fieldsOf(route, body), status: answer.status }
    await write(caller.tenant, createEntry(audit.action, caller, origin, done))
    return answer
  }
}
