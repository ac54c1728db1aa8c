import type { AuditStore } from '@switchhook/store'
import { AUDIT_ACTIONS, AUDIT_LISTS, listOf } from '../audit-action.ts'
import { feature } from '../feature.ts'
import { rangeOf } from '../read-range.ts'
import { type RouteOf, searches } from '../route.ts'
import type { QueryOf } from '../schema.ts'
import { choice, completeComponent, list, moment, orNull, pageParameters, pageSchema, text } from '../schema.ts'
import type { AuditEntry } from './audit-log.ts'

interface AuditRouteDeps {
  readonly auditLog: Pick<AuditStore, 'page'>
}

const entrySchema = completeComponent(
  'AuditEntry',
  'One recorded action: who did what, to what, and from where. It names the changed fields, never their values.',
  {
    id: text('The id of the entry.', '1795280761173-0'),
    at: moment('When the entry was written, in UTC.'),
    action: text(
      'The action. Later versions may add actions that are not listed for the `action` parameter.',
      'subscription.changed',
    ),
    clientId: text(
      'The client that the token names in `azp`, `client_id`, `appid` or `cid`, or else its `sub`; `trusted-network` for a request admitted by its address. `switchhook` without an issuer: the service itself, which deleted an unused pull subscription.',
      'acme-app',
    ),
    subject: orNull(text("The token's `sub` if it differs from the client.", null)),
    issuer: orNull(text('The issuer of the token; null if there was no token.', 'https://idp.example/acme')),
    on: {
      type: 'object',
      description: 'The ids of the affected objects, by name.',
      additionalProperties: { type: 'string' },
      examples: [{ subscriptionId: '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11' }],
    },
    fields: list(
      'The names of the fields that the request set, never their values.',
      { type: 'string' },
      { examples: [['enabled']] },
    ),
    address: orNull(
      text(
        "The client's IP address: the peer of the connection, or the address that a trusted proxy reports.",
        '203.0.113.7',
      ),
    ),
    userAgent: orNull(text('The first 256 characters of the `User-Agent` header.', 'crm/4.2')),
    status: { type: 'integer', description: 'The HTTP status of the answer.', examples: [200] },
    requestId: text('The `X-Request-Id` of the answer.', '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'),
    traceId: orNull(text('The trace id of the request.', '4bf92f3577b34da6a3ce929d0e0e4736')),
  },
)

const auditPageSchema = pageSchema('AuditPage', 'A page of the audit log.', entrySchema)

const auditQuery = {
  from: moment('Only entries written at this time or later.', '2026-11-20T00:00:00Z'),
  to: moment('Only entries written before this time.', '2026-11-21T00:00:00Z'),
  list: choice(
    AUDIT_LISTS,
    'Only entries of this list: `webhooks` (changes and sendings) or `commands` (calls and presence). Without it, both.',
    'commands',
  ),
  action: choice(AUDIT_ACTIONS, 'Only entries with this action.', 'subscription.deleted'),
  ...pageParameters,
} as const

const listAuditEntries: RouteOf<AuditRouteDeps, undefined, QueryOf<typeof auditQuery>> = {
  ...searches('audit'),
  path: '/api/v1/audit',
  operationId: 'listAuditEntries',
  summary: 'List audit log entries',
  description:
    "Lists what the tenant's clients changed or sent under `/api/v1/webhooks`, and the call commands and presence settings that " +
    'were accepted, the newest first. Reads, rejected requests, and requests without an effect are not recorded. An entry is kept for ' +
    '90 days. A tenant keeps its latest 10,000 entries of webhooks and its latest 10,000 of commands (all are defaults). The entry of a ' +
    'command appears shortly after its answer. New entries do not shift the pages. With `action`, one request searches a thousand entries, so a page can have ' +
    'fewer items than `limit` and still have a `nextCursor`.',
  query: auditQuery,
  responses: { 200: { description: 'A page of entries.', body: auditPageSchema } },
  async handle({ caller, query: { list, action, ...range } }, { auditLog }) {
    const lists = AUDIT_LISTS.filter((one) => one === (list ?? one) && one === (action ? listOf(action) : one))
    const wanted = { ...rangeOf(range), lists, ...(action !== undefined && { action }) }
    const { items, nextCursor } = await auditLog.page(caller.tenant, wanted)
    const shown = items.map(({ id, atMs, entry }) => {
      return { id, at: new Date(atMs).toISOString(), ...(entry as AuditEntry) }
    })
    return { status: 200, body: { items: shown, nextCursor } }
  },
}

export const audit = feature([listAuditEntries], (deps: AuditRouteDeps) => ({ deps }))
