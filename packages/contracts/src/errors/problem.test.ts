import { AppError, FAILURES, toProblem } from './failure.ts'
import { Unavailable } from './unavailable.ts'

const codes = Object.keys(FAILURES) as (keyof typeof FAILURES)[]
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
