import type { Answer, Route, RouteRequest } from '../http/route.ts'
import { createAudit } from './audit-log.ts'

const origin = { address: '203.0.113.7', userAgent: 'crm/4.2', requestId: 'r-1', traceId: 't-1' }
const request: RouteRequest = {
  caller: { tenant: 'acme', clientId: 'crm', issuer: 'https://idp.example' },
  params: { id: 's-1' },
  query: {},
  body: { enabled: false },
  requestId: 'r-1',
  idFor: () => 'x',
  isKeyed: false,
}

const aRoute = (handle: () => Promise<Answer>, isAudited = true): Route => ({
  method: 'patch',
  path: '/api/v1/webhooks/subscriptions/{id}',
  operationId: 'changeSubscription',
  tag: 'subscriptions',
  summary: '',
  body: { type: 'object', properties: { enabled: {} } },
  ...(isAudited && {
    audit: { action: 'subscription.changed', on: ({ params: { id } }) => ({ subscriptionId: id }) },
  }),
  responses: {},
  failures: [],
  handle,
})

/** An audit log that notes what happens in which order. */
function aLog(append: () => Promise<void> = async () => {}) {
  const happened: unknown[] = []
  const audit = createAudit(
    async (tenant, action, entry) => {
      happened.push(['stored', tenant, action, entry])
      await append()
    },
    {
      info: (message, fields) => void happened.push(['info', message, fields]),
      warn: (message, fields) => void happened.push(['warn', message, fields]),
    },
  )
  return { audit, happened }
}

const answer: Answer = { status: 200, body: {} }
const succeed = async (): Promise<Answer> => answer

test('what changed nothing is not written down', async () => {
  const { audit, happened } = aLog()
  const answering = (isUnchanged: boolean) => aRoute(async () => ({ ...answer, isUnchanged }))
  await audit(answering(true), request, origin)
  expect(happened).toEqual([])
  await audit(answering(false), request, origin)
  expect(happened).toHaveLength(2)
})

test('what succeeded is told in the service’s log and stored for its tenant', async () => {
  const { audit, happened } = aLog()
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
  expect(happened).toEqual([
    ['info', 'audit', { tenant: 'acme', ...entry }],
    ['stored', 'acme', 'subscription.changed', entry],
  ])
})

test('what failed, and what is not to be told of, leaves no entry', async () => {
  const { audit, happened } = aLog()
  const refusal = new Error('no')
  await expect(
    audit(
      aRoute(() => Promise.reject(refusal)),
      request,
      origin,
    ),
  ).rejects.toBe(refusal)
  expect(await audit(aRoute(succeed, false), request, origin)).toBe(answer)
  expect(happened).toEqual([])
})

test('when the entry cannot be stored, the change stands, and the log says so beside its line', async () => {
  const error = new Error('Redis is away')
  const { audit, happened } = aLog(() => Promise.reject(error))
  expect(await audit(aRoute(succeed), request, origin)).toBe(answer)
  expect(happened).toEqual([
    ['info', 'audit', expect.objectContaining({ tenant: 'acme', action: 'subscription.changed' })],
    ['stored', 'acme', 'subscription.changed', expect.anything()],
    ['warn', 'an entry of the audit log could not be stored', { requestId: 'r-1', error }],
  ])
})
