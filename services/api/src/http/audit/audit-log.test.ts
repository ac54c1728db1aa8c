import { eventually } from '@switchhook/testkit'
import type { AuditAction } from '../audit-action.ts'
import type { Answer, Route, RouteRequest } from '../route.ts'
import { auditedIds, createAudit, createEntry, fieldsOf, type Origin } from './audit-log.ts'

const origin: Origin = { address: '203.0.113.7', userAgent: 'crm/4.2', requestId: 'r-1', traceId: 't-1' }
const request: RouteRequest = {
  caller: { tenant: 'acme', clientId: 'crm', issuer: 'https://idp.example', role: 'admin' },
  params: { id: 's-1' },
  query: {},
  body: { enabled: false },
  requestId: 'r-1',
  idFor: () => 'x',
  isKeyed: false,
  isClosed: () => false,
}

const aRoute = (
  handle: () => Promise<Answer>,
  isAudited = true,
  action: AuditAction = 'subscription.changed',
): Route => ({
  method: 'patch',
  path: '/api/v1/webhooks/subscriptions/{id}',
  operationId: 'changeSubscription',
  tag: 'subscriptions',
  summary: '',
  body: { type: 'object', properties: { enabled: {} } },
  ...(isAudited && {
    audit: { action, ids: ['subscriptionId'] },
  }),
  responses: {},
  failures: [],
  handle,
})

/** An audit log that records its calls in order. */
function aLog(append: () => Promise<void> = async () => {}) {
  const calls: unknown[] = []
  const { carryOut, recordOwn } = createAudit(
    {
      append: async (tenant, list, [added]) => {
        calls.push(['stored', tenant, list, added])
        await append()
      },
    },
    {
      info: (message, fields) => void calls.push(['info', message, fields]),
      warn: (message, fields) => void calls.push(['warn', message, fields]),
    },
  )
  return { audit: carryOut, recordOwn, calls }
}

const answer: Answer = { status: 200, body: {} }
const succeed = async (): Promise<Answer> => answer

test('an answer that changed nothing is not recorded', async () => {
  const { audit, calls } = aLog()
  const answering = (isUnchanged: boolean) => aRoute(async () => ({ ...answer, isUnchanged }))
  await audit(answering(true), request, origin)
  expect(calls).toEqual([])
  await audit(answering(false), request, origin)
  expect(calls).toHaveLength(2)
})

test('a success is logged and stored for its tenant', async () => {
  const { audit, calls } = aLog()
  expect(await audit(aRoute(succeed), request, origin)).toBe(answer)
  const entry = {
    action: 'subscription.changed',
    clientId: 'crm',
    subject: null,
    issuer: 'https://idp.example',
    on: { subscriptionId: 's-1' },
    fields: ['enabled'],
    status: 200,
    ...origin,
  }
  expect(calls).toEqual([
    ['info', 'audit', { tenant: 'acme', ...entry }],
    ['stored', 'acme', 'webhooks', { action: 'subscription.changed', entry }],
  ])
})

test('a command is logged before its answer, and does not wait until it is stored', async () => {
  const { audit, calls } = aLog(() => new Promise(() => {}))
  expect(await audit(aRoute(succeed, true, 'call.dialled'), request, origin)).toBe(answer)
  const line = ['info', 'audit', expect.objectContaining({ action: 'call.dialled' })]
  const entry = { action: 'call.dialled', entry: expect.objectContaining({ requestId: 'r-1' }) }
  expect(calls).toEqual([line])
  await eventually(() => expect(calls).toEqual([line, ['stored', 'acme', 'commands', entry]]))
})

test('a failure, and a route that is not audited, leave no entry', async () => {
  const { audit, calls } = aLog()
  const refusal = new Error('no')
  await expect(
    audit(
      aRoute(() => Promise.reject(refusal)),
      request,
      origin,
    ),
  ).rejects.toBe(refusal)
  expect(await audit(aRoute(succeed, false), request, origin)).toBe(answer)
  expect(calls).toEqual([])
})

test('what the service itself does names the service, without an issuer and an address', async () => {
  const { recordOwn, calls } = aLog()
  await recordOwn('acme', 'subscription.deleted', { subscriptionId: 's-1' })
  const entry = {
    action: 'subscription.deleted',
    clientId: 'switchhook',
    subject: null,
    issuer: null,
    on: { subscriptionId: 's-1' },
    fields: [],
    status: 204,
    address: null,
    userAgent: null,
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    traceId: null,
  }
  expect(calls).toEqual([
    ['info', 'audit', { tenant: 'acme', ...entry }],
    ['stored', 'acme', 'webhooks', { action: 'subscription.deleted', entry }],
  ])
})

test('when the entry cannot be stored, the change stands and a warning follows the log line', async () => {
  const error = new Error('Redis is away')
  const { audit, calls } = aLog(() => Promise.reject(error))
  expect(await audit(aRoute(succeed), request, origin)).toBe(answer)
  expect(calls).toEqual([
    ['info', 'audit', expect.objectContaining({ tenant: 'acme', action: 'subscription.changed' })],
    ['stored', 'acme', 'webhooks', expect.anything()],
    ['warn', 'an entry of the audit log could not be stored', { requestId: 'r-1', error }],
  ])
})

const done = { on: { subscriptionId: 's-1' }, fields: ['url'], status: 200 }
const caller = { tenant: 'acme', clientId: 'crm', role: 'admin' } as const

const entryOf = (more: Partial<Origin> = {}, who = {}) =>
  createEntry('subscription.changed', { ...caller, ...who }, { ...origin, ...more }, done)

test('an entry holds who did what, to what, from where, and the ids to correlate it by', () => {
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

test('unknown values are null', () => {
  const unknown = { address: undefined, userAgent: undefined, traceId: undefined }
  expect(entryOf(unknown)).toMatchObject({ subject: null, issuer: null, address: null, userAgent: null, traceId: null })
})

test('the user agent is truncated, and an IPv4-mapped address becomes an IPv4 address', () => {
  expect(entryOf({ userAgent: 'x'.repeat(10_000) }).userAgent).toHaveLength(256)
  expect(entryOf({ address: '::ffff:203.0.113.7' }).address).toBe('203.0.113.7')
  expect(entryOf({ address: '::ffff:1' }).address).toBe('::ffff:1')
})

test('an entry names the fields of the body that the route knows, never a value', () => {
  const route = { body: { type: 'object', properties: { url: {}, enabled: {}, id: { readOnly: true } } } }
  expect(
    fieldsOf(route, { id: 'ignored', url: 'https://secret.example', enabled: false, 'https://also.secret': 1 }),
  ).toEqual(['url', 'enabled'])
  expect(fieldsOf(route, undefined)).toEqual([])
  expect(fieldsOf({}, { url: 'x' })).toEqual([])
})

test('ids come from the path or the answer, and values that are not strings are left out', () => {
  const audited = {
    action: 'subscription.tested',
    ids: ['subscriptionId', 'deliveryId', 'recoveryId'],
  } as const
  const answer = { status: 202, body: { deliveryId: 'd-1', recoveryId: 7 } }
  expect(auditedIds(audited, { id: 's-1' }, answer)).toEqual({ subscriptionId: 's-1', deliveryId: 'd-1' })
  expect(auditedIds(audited, { id: 's-1' }, { status: 204 })).toEqual({ subscriptionId: 's-1' })
  // The answer has its canonical spelling.
  expect(auditedIds(audited, { id: 'S-1' }, { status: 200, body: { id: 's-1' } })).toEqual({ subscriptionId: 's-1' })
})
