import { auditedIds } from './audit-action.ts'
import { createEntry, fieldsOf, type Origin } from './audit-entry.ts'

const origin: Origin = { address: '203.0.113.7', userAgent: 'crm/4.2', requestId: 'r-1', traceId: 't-1' }
const done = { on: { subscriptionId: 's-1' }, fields: ['url'], status: 200 }
const caller = { tenant: 'acme', clientId: 'crm' }

const entryOf = (more: Partial<Origin> = {}, who = {}) =>
  createEntry('subscription.changed', { ...caller, ...who }, { ...origin, ...more }, done)

test('it holds who, what, on what, from where, and where more can be found', () => {
  expect(entryOf({}, { issuer: 'https://idp.example', subject: 'jane' })).toEqual({
    action: 'subscription.changed',
    clientId: 'crm',
    subject: 'jane',
    issuer: 'https://idp.example',
    on: { subscriptionId: 's-1' },
    fields: ['url'],
    address: '203.0.113.7',
    userAgent: 'crm/4.2',
    status: 200,
    requestId: 'r-1',
    traceId: 't-1',
  })
})

test('what is not known is null', () => {
  const unknown = { address: undefined, userAgent: undefined, traceId: undefined }
  expect(entryOf(unknown)).toMatchObject({ subject: null, issuer: null, address: null, userAgent: null, traceId: null })
})

test('a client’s name for itself is cut, and its IPv4 address is one', () => {
  expect(entryOf({ userAgent: 'x'.repeat(10_000) }).userAgent).toHaveLength(256)
  expect(entryOf({ address: '::ffff:203.0.113.7' }).address).toBe('203.0.113.7')
  expect(entryOf({ address: '::ffff:1' }).address).toBe('::ffff:1')
})

test('of a body, the names of what its route knows are told, never a value', () => {
  const route = { body: { type: 'object', properties: { url: {}, enabled: {} } } }
  expect(fieldsOf(route, { url: 'https://secret.example', enabled: false, 'https://also.secret': 1 })).toEqual([
    'url',
    'enabled',
  ])
  expect(fieldsOf(route, undefined)).toEqual([])
  expect(fieldsOf({}, { url: 'x' })).toEqual([])
})

test('ids come from the path or from the answer, and what is no text is none', () => {
  const audited = {
    action: 'subscription.tested',
    on: ({ params, made }: { params: Record<string, string>; made: Record<string, unknown> }) => ({
      subscriptionId: params['id'],
      deliveryId: made['deliveryId'],
      recoveryId: made['recoveryId'],
    }),
  } as const
  const answer = { status: 202, body: { deliveryId: 'd-1', recoveryId: 7 } }
  expect(auditedIds(audited, { id: 's-1' }, answer)).toEqual({ subscriptionId: 's-1', deliveryId: 'd-1' })
  expect(auditedIds(audited, { id: 's-1' }, { status: 204 })).toEqual({ subscriptionId: 's-1' })
})
