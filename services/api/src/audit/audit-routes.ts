import type { AuditStore } from '@switchhook/store'
import { type Range, rangeOf } from '../http/read-range.ts'
import type { Route } from '../http/route.ts'
import type { AuditAction } from './audit-action.ts'
import type { AuditEntry } from './audit-entry.ts'
import { auditPageSchema, auditQuery } from './audit-schema.ts'

export interface AuditRoutesDeps {
  readonly auditLog: Pick<AuditStore, 'page'>
}

interface AuditFilter extends Range {
  readonly action?: AuditAction
}

export function createAuditRoutes({ auditLog }: AuditRoutesDeps): Route[] {
  const list: Route<undefined, AuditFilter> = {
    method: 'get',
    path: '/api/v1/audit',
    operationId: 'listAuditEntries',
    tag: 'audit',
    summary: 'Read what was done, and by whom',
    description:
      "What the tenant's clients have changed among its webhooks, the newest first. Refused requests, commands to calls and " +
      'mere reading are not part of it. Old entries are forgotten (by default after 90 days, or when there are more than ' +
      '10,000). Entries that are written while you read do not shift the pages that follow. A search by `action` looks through ' +
      'a thousand entries at a time, so a page may hold fewer than asked for, or none, and have a `nextCursor` all the same.',
    query: auditQuery,
    responses: { 200: { description: 'A page.', body: auditPageSchema } },
    failures: [],
    async handle({ caller, query: { action, ...range } }) {
      const page = await auditLog.page(caller.tenant, {
        ...rangeOf(range),
        ...(action !== undefined && { action }),
      })
      const items = page.items.map(({ id, atMs, entry }) => ({
        id,
        at: new Date(atMs).toISOString(),
        ...(entry as AuditEntry),
      }))
      return { status: 200, body: { items, nextCursor: page.nextCursor } }
    },
  }

  return [list]
}
