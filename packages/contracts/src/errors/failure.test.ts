import { AppError, FAILURES, type FailureCode, toProblem } from './failure.ts'
import { isNotExecuted, Unavailable } from './unavailable.ts'

const codes = Object.keys(FAILURES) as FailureCode[]

test('every code and its status are stable: clients rely on them', () => {
  expect(Object.fromEntries(codes.map((code) => [code, FAILURES[code].status]))).toMatchInlineSnapshot(`
{
  "agent-device-unavailable": 409,
  "agent-not-found": 404,
  "body-too-large": 413,
  "call-not-found": 404,
  "check-running": 409,
  "check-unfinished": 503,
  "cross-site-request": 403,
  "delivery-not-found": 404,
  "delivery-not-parked": 409,
  "delivery-without-body": 409,
  "event-not-found": 404,
  "event-without-body": 409,
  "external-id-taken": 409,
  "forbidden": 403,
  "host-not-allowed": 403,
  "idempotency-key-in-use": 409,
  "idempotency-key-reused": 422,
  "internal": 500,
  "invalid-call-state": 409,
  "invalid-filter": 400,
  "invalid-request": 400,
  "invalid-webhook-url": 400,
  "journal-off": 409,
  "malformed-json": 400,
  "method-not-allowed": 405,
  "missing-agent-uri": 400,
  "not-found": 404,
  "outcomes-unfinished": 503,
  "platform-unavailable": 503,
  "precondition-failed": 412,
  "rate-limited": 429,
  "recovery-in-progress": 409,
  "recovery-not-found": 404,
  "remote-answer-unsupported": 409,
  "secret-unavailable": 409,
  "service-unavailable": 503,
  "subscription-deleted": 409,
  "subscription-disabled": 409,
  "subscription-not-found": 404,
  "subscription-not-pull": 409,
  "subscription-pull": 409,
  "too-many-checks": 429,
  "too-many-client-listeners": 429,
  "too-many-listeners": 429,
  "too-many-receivers": 429,
  "too-many-secrets": 409,
  "too-many-subscriptions": 409,
  "transfer-in-progress": 409,
  "unauthorized": 401,
  "unknown-event-type": 400,
  "unknown-status-code": 400,
  "unsupported-media-type": 415,
}
`)
})

test.each(codes)('%s has a 4xx or 5xx status and a title without a full stop', (code) => {
  const { status, title } = FAILURES[code]
  expect(status >= 400 && status <= 599).toBe(true)
  expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
  expect(title).toMatch(/^[A-Z].*[^.]$/)
})

test('the message of a client error is its detail, otherwise its title', () => {
  expect(new AppError('call-not-found').message).toBe(FAILURES['call-not-found'].title)
  const cause = new Error('inside')
  const error = new AppError('invalid-request', { detail: 'no body' }, { cause })
  expect(error).toMatchObject({
    message: 'no body',
    code: 'invalid-request',
    extra: { detail: 'no body' },
    cause,
    name: 'AppError',
  })
})

test('the unavailable dependency is named', () => {
  const cause = new Error('ECONNREFUSED')
  expect(new Unavailable('redis', 'away', { cause })).toMatchObject({ dependency: 'redis', message: 'away', cause })
})

test('an operation counts as not executed only if the error says so', () => {
  const cause = new Error('OOM')
  const refused = new Unavailable('redis', 'full', { cause, fate: 'not-executed' })
  expect(refused).toMatchObject({ cause, fate: 'not-executed' })
  expect(isNotExecuted(refused)).toBe(true)
  expect(isNotExecuted(new Unavailable('redis', 'timed out', { cause }))).toBe(false)
  expect(isNotExecuted(cause)).toBe(false)
})

const internal = {
  type: '/api/v1/docs/problems#internal',
  status: 500,
  code: 'internal',
  title: 'Internal error',
  requestId: 'r1',
}

test.each(codes)('%s has its own type, and the status and title of the table', (code) => {
  expect(toProblem(new AppError(code), 'r1')).toEqual({
    type: `/api/v1/docs/problems#${code}`,
    code,
    requestId: 'r1',
    ...FAILURES[code],
  })
})

test('additional fields of an error are shown, and can override the status', () => {
  const extra = { status: 401, detail: 'agentUri', errors: [{ pointer: '/agentUri', detail: 'is required' }] }
  expect(toProblem(new AppError('missing-agent-uri', extra), 'r1')).toMatchObject({
    ...extra,
    code: 'missing-agent-uri',
  })
})

test('an unavailable dependency is 503, without naming it or the cause', () => {
  const problem = toProblem(new Unavailable('redis', 'redis://user:secret@10.0.0.7', { cause: new Error('x') }), 'r1')
  expect(problem).toEqual({
    type: '/api/v1/docs/problems#service-unavailable',
    code: 'service-unavailable',
    requestId: 'r1',
    ...FAILURES['service-unavailable'],
  })
})

test.each([new Error('secret'), new TypeError('secret'), 'secret', undefined, null, { status: 200, code: 'secret' }])(
  'an error that is not meant for clients (%p) tells nothing but the id to quote',
  (error) => expect(toProblem(error, 'r1')).toEqual(internal),
)

test('additional fields cannot overwrite the request id or the code', () => {
  const sly = new AppError('not-found', JSON.parse('{"requestId":"other","code":"other"}') as object)
  expect(toProblem(sly, 'r1')).toMatchObject({ requestId: 'r1', code: 'not-found' })
})
