import { component } from '../http/component.ts'
import { pageParameters, pageSchema } from '../http/page-schema.ts'
import { AUDIT_ACTIONS } from './audit-action.ts'

const text = (description: string, example: string) => ({ type: 'string', description, examples: [example] }) as const

const textOrNull = (description: string, example: string | null) =>
  ({ type: ['string', 'null'], description, examples: [example] }) as const

const entrySchema = component('AuditEntry', {
  type: 'object',
  description: 'Something that was done: by whom, to what, from where. It names what was changed, never a value.',
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
    at: { ...text('When it was written, in UTC.', '2026-11-20T17:06:01.173Z'), format: 'date-time' },
    action: text('What was done. There may be others than those that can be asked for.', 'subscription.changed'),
    clientId: text(
      "The client: the token's `azp`, `client_id` or `sub`; `trusted-network` for a request that was let in by its address.",
      'acme-app',
    ),
    subject: textOrNull("The token's `sub`, where it is not the client.", null),
    issuer: textOrNull('Who issued the token; null: there was none.', 'https://idp.example/acme'),
    on: {
      type: 'object',
      description: 'The ids of what it was done to, by name.',
      additionalProperties: { type: 'string' },
      examples: [{ subscriptionId: '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11' }],
    },
    fields: {
      type: 'array',
      description: 'The members that the request set.',
      items: { type: 'string' },
      examples: [['enabled']],
    },
    address: textOrNull(
      "The client's address: the connection's, or what a proxy says that the installation trusts.",
      '203.0.113.7',
    ),
    userAgent: textOrNull('What the client called itself; at most 256 characters of it.', 'crm/4.2'),
    status: { type: 'integer', description: 'The HTTP status of the answer.', examples: [200] },
    requestId: text('The value of `X-Request-Id` in the answer.', '0b7e3f0c-5d0e-4d7f-9c0e-0d2f4a1b6c11'),
    traceId: textOrNull('The id of its trace.', '4bf92f3577b34da6a3ce929d0e0e4736'),
  },
})

export const auditPageSchema = pageSchema('AuditPage', 'A page of the audit log.', entrySchema)

const time = (description: string) =>
  ({ type: 'string', format: 'date-time', description, examples: ['2026-11-20T00:00:00Z'] }) as const

export const auditQuery = {
  from: time('Only what was done then or later.'),
  to: time('Only what was done before.'),
  action: { type: 'string', enum: AUDIT_ACTIONS, description: 'Only this.', examples: ['subscription.deleted'] },
  ...pageParameters,
} as const
