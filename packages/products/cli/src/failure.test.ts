import { NoAnswer, SignInFailed, SwitchhookError } from '@switchhook/client'
import { CliError, Exit, reportOf } from './failure.ts'

const refused = (status: number, code: string, more: object = {}): SwitchhookError =>
  new SwitchhookError({ type: '', title: 'Refused', status, code, requestId: 'r-1', ...more } as never)

test.each<[string, unknown, number, string]>([
  ['a finding', new CliError(Exit.finding, 'Found.'), 1, 'Found.'],
  ['no token', refused(401, 'unauthorized'), 3, 'Refused. Sign in with "switchhook login", or renew SWITCHHOOK_TOKEN.'],
  ['no agent', refused(401, 'missing-agent-uri'), 2, 'Refused'],
  ['a missing role', refused(403, 'forbidden'), 3, 'Refused. Ask the operator of the installation for the role.'],
  ['no sign-in', new SignInFailed('The secret is wrong.', { status: 401 }), 3, 'The secret is wrong.'],
  ['an unknown id', refused(404, 'call-not-found'), 4, 'Refused'],
  ['an older server', refused(404, 'not-found'), 4, 'Refused; the server may be older than this command.'],
  [
    'a wrong state',
    refused(409, 'invalid-call-state', { allowedCommands: ['resume', 'hangup'] }),
    5,
    'Refused. Possible now: resume, hangup.',
  ],
  ['an empty id', new TypeError('subscriptions.delete needs an id'), 2, 'The id is missing.'],
  ['a change in between', refused(412, 'precondition-failed'), 5, 'Refused'],
  ['a limit', refused(429, 'rate-limited'), 5, 'Refused'],
  [
    'bad input',
    refused(400, 'invalid-request', { errors: [{ pointer: '/url', detail: 'is no url' }] }),
    2,
    'Refused: /url is no url',
  ],
  [
    'an unknown status code',
    refused(400, 'unknown-status-code', {
      errors: [{ pointer: '/statusCode', detail: 'must be one of knownStatusCodes' }],
      knownStatusCodes: [
        { code: 2, name: 'Available' },
        { code: 66, name: 'Lunch' },
      ],
    }),
    2,
    'Refused: /statusCode must be one of 2 Available, 66 Lunch',
  ],
  [
    'an unknown field of a filter',
    refused(400, 'invalid-filter', {
      errors: [{ pointer: '/filter/agent.status/x', detail: 'is not a field of agent.status' }],
      knownFields: { 'agent.status': ['agentUri', 'statusCode'] },
    }),
    2,
    'Refused: /filter/agent.status/x is not a field of agent.status. Fields of agent.status: agentUri, statusCode',
  ],
  ['a defect', refused(500, 'internal'), 6, 'Refused. Try again; the operator finds it as request r-1.'],
  ['no address', new TypeError('baseUrl must look like https://x'), 2, 'The address must look like https://x'],
  ['anything else', new Error('Out of memory'), 1, 'Out of memory'],
])('%s', (_name, error, exit, message) => {
  expect(reportOf(error)).toEqual({ exit, message })
})

test('no answer says where the address is set, and whether the command may have run', () => {
  const error = new NoAnswer('X did not answer (refused). Check baseUrl and the network.', { mayHaveRun: true })
  expect(reportOf(error)).toEqual({
    exit: 6,
    message:
      'X did not answer (refused). Check the address of the installation (switchhook profile) and the network. The command may have run: look before you repeat it.',
  })
})

test.each([
  [-600_000, "The clock of this machine is 600 s behind the server's: set it by NTP."],
  [600_000, "The clock of this machine is 600 s ahead of the server's: set it by NTP."],
])('a refused sign-in mentions a clock that is %d ms off', (offsetMs, advice) => {
  expect(reportOf(refused(401, 'unauthorized'), offsetMs).message).toMatch(advice)
  expect(reportOf(refused(404, 'call-not-found'), offsetMs).message).toBe('Refused')
})

test('a small difference of the clocks is not mentioned', () => {
  expect(reportOf(refused(401, 'unauthorized'), 30_000).message).not.toContain('clock')
})
