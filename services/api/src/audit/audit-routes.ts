import type { AuditStore } from '@switchhook/store'
import { component } from '../http/component.ts'
import { pageParameters, pageSchema } from '../http/page-schema.ts'
import { type Range, rangeOf } from '../http/read-range.ts'
import type { Route } from '../http/route.ts'
import { AUDIT_ACTIONS, type AuditAction } from './audit-action.ts'
import type { AuditEntry } from './audit-log.ts'

export interface AuditRoutesDeps {
  readonly auditLog: Pick<AuditStore, 'page'>
}

interface AuditFilter extends Range {
  readonly action?: AuditAction
}

const text = (description: string, example: string) => ({ type: 'string', description, examples: [example] }) as const

const textOrNull = (description: string, example: string | null) =>
  ({ type: ['string', 'null'], description, examples: [example] }) as const

const entrySchema = component('AuditEntry', {
  type: 'object',
  description:
    'One recorded action: who did what, to what, and from where. It names the changed fields, never their values.',
  required: [
    'id',
    'at',
    'action',
    'clientId',
    'subject',
    'issuer',
    'on',
    'fields',
    'address',
    'userAgent',
    'status',
    'requestId',
    'traceId',
  ],
  properties: {
    id: text('The id of the entry.', '1795280761173-0'),
    at: { ...text('When the entry was written, in UTC.', '2026-11-20T17:06:01.173Z'), format: 'date-time' },
    action: text(
      'The action. Later versions may add actions that are not listed for the `action` parameter.',
      'subscription.changed',
    ),
    clientId: text(
      "The client: the token's `azp`, `client_id` or `sub`, or `trusted-network` for a request admitted by its address.",
      'acme-app',
    ),
    subject: textOrNull("The token's `sub` if it differs from the client.", null),
    issuer: textOrNull('The issuer of the token; null if there was no token.', 'https://idp.example/acme'),
    on: {
      type: 'object',
      description: 'The ids of the affected objects, by name.',
      additionalProperties: { type: 'string' },
      examples: [{ subscriptionId: '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11' }],
    },
    fields: {
      type: 'array',
      description: 'The names of the fields that the request set.',
      items: { type: 'string' },
      examples: [['enabled']],
    },
    address: textOrNull(
      "The client's IP address: the peer of the connection, or the address that a trusted proxy reports.",
      '203.0.113.7',
    ),
    userAgent: textOrNull('The first 256 characters of the `User-Agent` header.', 'crm/4.2'),
    status: { type: 'integer', description: 'The HTTP status of the answer.', examples: [200] },
    requestId: text('The `X-Request-Id` of the answer.', '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'),
    traceId: textOrNull('The trace id of the request.', '4bf92f3577b34da6a3ce929d0e0e4736'),
  },
})

const auditPageSchema = pageSchema('AuditPage', 'A page of the audit log.', entrySchema)

const time = (description: string) =>
  ({ type: 'string', format: 'date-time', description, examples: ['2026-11-20T00:00:00Z'] }) as const

const auditQuery = {
  from: time('Only entries written at this time or later.'),
  to: time('Only entries written before this time.'),
  action: {
    type: 'string',
    enum: AUDIT_ACTIONS,
    description: 'Only entries with this action.',
    examples: ['subscription.deleted'],
  },
  ...pageParameters,
} as const

export function createAuditRoutes({ auditLog }: AuditRoutesDeps): Route[] {
  const list: Route<undefined, AuditFilter> = {
    method: 'get',
    path: '/api/v1/audit',
    operationId: 'listAuditEntries',
    tag: 'audit',
    role: 'viewer',
    summary: 'List audit log entries',
    description:
      "Lists what the tenant's clients changed or sent under `/api/v1/webhooks`, the newest first. Rejected requests, reads and " +
      'call commands are not recorded. An entry is kept for 90 days, and a tenant keeps its latest 10,000 entries (both are defaults). ' +
      'New entries do not shift the pages. With `action`, one request searches a thousand entries, so a page can have ' +
      'fewer items than `limit`, or none, and still have a `nextCursor`.',
    query: auditQuery,
    responses: { 200: { description: 'A page of entries.', body: auditPageSchema } },
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
