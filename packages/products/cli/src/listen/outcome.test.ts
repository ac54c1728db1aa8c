import { answered, type ForwardOutcome, failed, outcomeText } from './outcome.ts'

test.each<[string, ForwardOutcome, ForwardOutcome, string]>([
  ['a success', answered(204, 12, ''), { status: 204, durationMs: 12 }, '204'],
  ['a success, whose answer is not sent', answered(200, 1, 'ok'), { status: 200, durationMs: 1 }, '200'],
  [
    'a defect, with its answer',
    answered(500, 1, `TypeError\n${'x'.repeat(200)}`),
    { status: 500, durationMs: 1, answer: `TypeError\n${'x'.repeat(200)}` },
    `500 (TypeError ${'x'.repeat(90)})`,
  ],
  ['a redirect', answered(302, 1, ''), { status: 302, durationMs: 1 }, '302'],
  ['nothing listens', failed('ECONNREFUSED', 12), { release: true }, 'refused'],
  ['no answer in time', failed('TimeoutError', 12), { error: 'timeout', durationMs: 12 }, 'timeout'],
  ['no connection in time', failed('UND_ERR_CONNECT_TIMEOUT', 12), { error: 'timeout', durationMs: 12 }, 'timeout'],
  ['no packet', failed('ETIMEDOUT', 12), { error: 'timeout', durationMs: 12 }, 'timeout'],
  ['an unknown host', failed('ENOTFOUND', 12), { error: 'dns', durationMs: 12 }, 'dns'],
  ['an own certificate', failed('DEPTH_ZERO_SELF_SIGNED_CERT', 12), { error: 'tls', durationMs: 12 }, 'tls'],
  ['no TLS', failed('ERR_SSL_WRONG_VERSION_NUMBER', 12), { error: 'tls', durationMs: 12 }, 'tls'],
  ['no HTTP', failed('HPE_INVALID_CONSTANT', 12), { error: 'malformed', durationMs: 12 }, 'malformed'],
  ['a crash', failed('ECONNRESET', 12), { error: 'reset', durationMs: 12 }, 'reset'],
  ['a closed socket', failed('UND_ERR_SOCKET', 12), { error: 'reset', durationMs: 12 }, 'reset'],
  ['no route', failed('EHOSTUNREACH', 12), { error: 'network', durationMs: 12 }, 'network'],
  ['no code', failed('', 12), { error: 'network', durationMs: 12 }, 'network'],
])('%s', (_name, outcome, expected, text) => {
  expect(outcome).toEqual(expected)
  expect(outcomeText(outcome)).toBe(text)
})
